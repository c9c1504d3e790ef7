package org.rdma4j.samples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands in README.md that start programs of the samples. */
final class ReadmeCommands {
  private static final Pattern COMMAND =
      Pattern.compile("\\s*java -jar samples/target/rdma4j-samples\\.jar (\\S.*?)(?:\\s+#.*)?");
  private static final Pattern SIMILAR = Pattern.compile("\\s*(?:\\$ )?java .*rdma4j-samples.*");

  private static final Set<String> ALONE = Set.of("devices", "devinfo", "doctor");

  /** The programs that are a server or a client, with the wait for the server. */
  private static final Map<String, Server> SERVERS =
      Map.ofEntries(
          Map.entry("rc-pingpong", Server.tcp(18515)),
          Map.entry("uc-pingpong", Server.tcp(18515)),
          Map.entry("ud-pingpong", Server.tcp(18515)),
          Map.entry("srq-pingpong", Server.tcp(18515)),
          Map.entry("endpoint-pingpong", Server.tcp(7471)),
          Map.entry("read-write-demo", Server.tcp(7471)),
          Map.entry("rc-example", Server.tcp(19875)),
          Map.entry("connection-pingpong", Server.cm(7471)),
          Map.entry("rping", Server.cm(7174)),
          Map.entry("rdma-server", Server.cm(7471)),
          Map.entry("ucmatose", Server.cm(7471)),
          Map.entry("udaddy", Server.cm(7174)),
          Map.entry("mckey", new Server(Readiness.GROUP, 0)),
          Map.entry("cmtime", Server.cm(7471)),
          Map.entry("srq", Server.cm(51216)),
          Map.entry("rcopy", Server.cm(7427)),
          Map.entry("key-value", Server.cm(7472)));

  private ReadmeCommands() {}

  /** What shows that a server is ready. */
  enum Readiness {
    TCP,
    CM,
    GROUP
  }

  /** How to wait for a server that uses its default port. */
  record Server(Readiness readiness, int port) {
    static Server tcp(int port) {
      return new Server(Readiness.TCP, port);
    }

    static Server cm(int port) {
      return new Server(Readiness.CM, port);
    }
  }

  /** A program that runs alone, or a server and its client; each is its name and its arguments. */
  record Run(List<String> first, List<String> client) {
    boolean isAlone() {
      return client.isEmpty();
    }

    Server server() {
      return Objects.requireNonNull(SERVERS.get(first.get(0)));
    }

    /** Returns whether the server runs until it is killed. */
    boolean isEndless() {
      return first.get(0).equals("cmtime")
          || first.get(0).equals("key-value")
          || (first.get(0).equals("rcopy") && !first.contains("-n"));
    }

    @Override
    public String toString() {
      return String.join(" ", first) + (isAlone() ? "" : " | " + String.join(" ", client));
    }
  }

  /** Returns what README.md prints. */
  static List<Run> ofReadme() throws IOException {
    Path directory = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(directory.resolve("samples"))) {
      directory = Objects.requireNonNull(directory.getParent());
    }
    return runs(Files.readAllLines(directory.resolve("README.md")));
  }

  /** Returns the runs of a text: the line after that of a server has its client. */
  static List<Run> runs(List<String> lines) {
    List<List<String>> commands = new ArrayList<>();
    for (String line : lines) {
      Matcher command = COMMAND.matcher(line);
      if (command.matches()) {
        commands.add(List.of(command.group(1).split("\\s+")));
      } else if (SIMILAR.matcher(line).matches()) {
        throw new AssertionError("not a command that can be tested: " + line);
      }
    }
    if (commands.isEmpty()) {
      throw new AssertionError("README.md has no command of the samples");
    }
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < commands.size(); i++) {
      List<String> command = commands.get(i);
      if (ALONE.contains(command.get(0))) {
        runs.add(new Run(command, List.of()));
      } else if (!SERVERS.containsKey(command.get(0))) {
        throw new AssertionError("unknown program: " + String.join(" ", command));
      } else if (i + 1 == commands.size() || !isClient(commands.get(i + 1), command)) {
        throw new AssertionError("no client after: " + String.join(" ", command));
      } else {
        runs.add(new Run(command, commands.get(++i)));
      }
    }
    return runs;
  }

  private static boolean isClient(List<String> command, List<String> server) {
    String program = server.get(0).equals("rdma-server") ? "rdma-client" : server.get(0);
    return command.get(0).equals(program);
  }
}
