package org.rdma4j.docs.guide;

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

/** The commands in README.md that start programs of the tools and of the samples. */
final class ReadmeCommands {
  private static final Pattern COMMAND =
      Pattern.compile("\\s*java -jar (\\w+)/target/rdma4j-\\1\\.jar (\\S.*?)(?:\\s+#.*)?");
  private static final Pattern SIMILAR =
      Pattern.compile("\\s*(?:\\$ )?java .*rdma4j-(?:tools|samples).*");

  private static final Set<String> ALONE = Set.of("devices", "devinfo", "doctor", "selftest");

  /** The programs that are a server or a client, with the wait for the server. */
  private static final Map<String, Server> SERVERS =
      Map.of(
          "rc-pingpong", new Server(false, 18515),
          "rping", new Server(true, 7174),
          "rcopy", new Server(true, 7427),
          "key-value", new Server(true, 7472));

  private ReadmeCommands() {}

  /**
   * How to wait for a server.
   *
   * @param cm whether it listens with the connection manager, rather than over TCP
   * @param port its default port
   */
  record Server(boolean cm, int port) {}

  /**
   * A command.
   *
   * @param module the module whose jar has the program
   * @param words the name of the program and its arguments
   */
  record Command(String module, List<String> words) {
    static Command of(String module, String... words) {
      return new Command(module, List.of(words));
    }

    String program() {
      return words.get(0);
    }

    @Override
    public String toString() {
      return String.join(" ", words);
    }
  }

  /** A program that runs alone, or a server and its client. */
  record Run(List<Command> commands) {
    static Run of(Command... commands) {
      return new Run(List.of(commands));
    }

    boolean isAlone() {
      return commands.size() == 1;
    }

    Command first() {
      return commands.get(0);
    }

    Command client() {
      return commands.get(1);
    }

    Server server() {
      return Objects.requireNonNull(SERVERS.get(first().program()));
    }

    /** Returns whether the server runs until it is killed. */
    boolean isEndless() {
      return first().module().equals("samples");
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
    List<Command> commands = new ArrayList<>();
    for (String line : lines) {
      Matcher command = COMMAND.matcher(line);
      if (command.matches()) {
        commands.add(Command.of(command.group(1), command.group(2).split("\\s+")));
      } else if (SIMILAR.matcher(line).matches()) {
        throw new AssertionError("not a command that can be tested: " + line);
      }
    }
    if (commands.isEmpty()) {
      throw new AssertionError("README.md has no command that starts a program");
    }
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < commands.size(); i++) {
      Command command = commands.get(i);
      if (ALONE.contains(command.program())) {
        runs.add(Run.of(command));
      } else if (!SERVERS.containsKey(command.program())) {
        throw new AssertionError("unknown program: " + command);
      } else if (i + 1 == commands.size()
          || !commands.get(i + 1).program().equals(command.program())) {
        throw new AssertionError("no client after: " + command);
      } else {
        runs.add(Run.of(command, commands.get(++i)));
      }
    }
    return runs;
  }
}
