package org.rdma4j.interop;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rdma4j.nio.ChannelStatistics;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;

/** A program in a JVM of its own, which uses the channels and says at its end what they did. */
final class Program {
  private static final String REPORT = "channels: ";

  /** What the channels of a program did. */
  record Report(long upgraded, long sentBytes, long receivedBytes) implements Serializable {
    /** Returns what those of this JVM did until now. */
    static Report now() {
      ChannelStatistics done = Way.statistics();
      return new Report(done.upgraded(), done.sentBytes(), done.receivedBytes());
    }

    Report plus(Report other) {
      return new Report(
          upgraded + other.upgraded,
          sentBytes + other.sentBytes,
          receivedBytes + other.receivedBytes);
    }

    /** Prints it for the test that has started the program. */
    void print() {
      System.out.printf("%s%d %d %d%n", REPORT, upgraded, sentBytes, receivedBytes);
    }
  }

  private Program() {}

  /**
   * Returns the command that starts a program as its users start it, with the option of the
   * channels and those that a test needs.
   *
   * @param main the class with the main method, which knows nothing of the channels
   */
  static List<String> command(Class<?> main, String... args) {
    return command(List.of(), main, args);
  }

  static List<String> command(List<String> options, Class<?> main, String... args) {
    List<String> all = new ArrayList<>();
    all.add(main.getName());
    all.addAll(Arrays.asList(args));
    List<String> command =
        new ArrayList<>(JavaCommand.of(Program.class, all.toArray(String[]::new)));
    command.addAll(1, options);
    command.addAll(1, Way.options());
    return command;
  }

  /** Starts a server, and waits until it listens to a TCP port. */
  static ChildProcess startServer(int port, List<String> command) throws Exception {
    ChildProcess server = ChildProcess.start(command);
    boolean listens = false;
    try {
      ChildProcess.awaitListening(port);
      listens = true;
      return server;
    } finally {
      if (!listens) {
        server.close();
      }
    }
  }

  /** Runs another program, and reports what its channels did. */
  public static void main(String[] args) throws Exception {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> Report.now().print()));
    Class.forName(args[0])
        .getMethod("main", String[].class)
        .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
  }

  /** Finds the first report in what a program has printed. */
  static Report report(List<String> printed) {
    for (String line : printed) {
      if (line.startsWith(REPORT)) {
        String[] numbers = line.substring(REPORT.length()).split(" ", -1);
        return new Report(
            Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
      }
    }
    throw new AssertionError("no report in " + String.join("\n", printed));
  }
}
