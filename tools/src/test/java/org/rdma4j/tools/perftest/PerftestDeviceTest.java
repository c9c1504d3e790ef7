package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs each test against the program of perftest, as client and as server. */
@Tag("device")
@Tag("c-programs")
@Tag("needs-connecting-by-address")
@Tag("alone")
@Timeout(180)
class PerftestDeviceTest {
  private static final long TIMEOUT_SECONDS = 150;

  /**
   * Each program with each length, half of them with the connection manager, which does not know of
   * the length.
   */
  static Stream<String> programs() {
    List<String> all = new ArrayList<>();
    for (String program : List.of("send", "write", "read")) {
      for (String pattern : List.of("lat", "bw")) {
        for (String rest :
            List.of("2 -n 100", "4096 -n 100 -R", "65536 -n 40", "1048576 -n 10 -R")) {
          all.add("%s-%s -s %s".formatted(program, pattern, rest));
        }
      }
    }
    all.addAll(List.of("atomic-lat -n 100", "atomic-lat -n 100 -R", "atomic-bw -n 100"));
    return all.stream();
  }

  /** Other options, each in a test that has it. */
  static Stream<String> options() {
    return Stream.of(
        "send-lat -s 64 -n 100 -e",
        "send-lat -s 64 -n 100 -I 64",
        "send-lat -s 64 -n 100 -c UC",
        "send-lat -s 64 -n 100 -c UD",
        "send-lat -s 64 -n 100 -c UD -R",
        "send-lat -s 64 -n 100 -c UD -e",
        "send-lat -s 64 -n 100 -r 1",
        "send-bw -s 64 -n 100 -e",
        "send-bw -s 64 -n 96 -l 16 -q 4",
        "send-bw -s 64 -n 100 -c UC",
        "send-bw -s 64 -n 100 -c UD",
        "send-bw -s 64 -n 100 -c UD -R",
        "send-bw -s 64 -n 100 -b",
        "send-bw -s 64 -n 100 -b -c UD -R -q 2",
        "send-bw -s 4096 -n 100 -r 7 -Q 7 -t 20 -q 3",
        "send-bw -s 4096 -n 100 --recv_post_list 4",
        "write-lat -s 64 -n 100 -c UC",
        "write-bw -s 64 -n 100 -b",
        "write-bw -s 64 -n 100 -q 5 -R",
        "write-bw -s 64 -n 300 -c UC -Q 8",
        "write-bw -s 64 -n 96 -l 16 -q 4 --report_gbits",
        "write-bw -s 8193 -n 50 -m 512",
        "read-bw -s 64 -n 100 -b",
        "read-bw -s 4096 -n 100 -o 1 -e",
        "read-lat -s 4096 -n 100 -e",
        "atomic-lat -n 100 -A CMP_AND_SWAP -e",
        "atomic-bw -n 100 -A CMP_AND_SWAP -q 3",
        "atomic-bw -n 96 -b -l 8");
  }

  @ParameterizedTest
  @MethodSource({"programs", "options"})
  void clientWorksWithServerInC(String test) throws Exception {
    Commands commands = Commands.of(test);
    try (ChildProcess server = ChildProcess.start(commands.inC(false))) {
      commands.awaitListening();
      Outcome client = InThisJvm.run(commands.inJava(true));
      assertThatItSucceeded(InstalledPerftest.withoutVersions(client), test, true);
      assertThatItSucceeded(server.await(), test, false);
    }
  }

  @ParameterizedTest
  @MethodSource({"programs", "options"})
  void serverWorksWithClientInC(String test) throws Exception {
    Commands commands = Commands.of(test);
    CompletableFuture<Outcome> server = InThisJvm.begin(commands.inJava(false));
    commands.awaitListening();
    try (ChildProcess client = ChildProcess.start(commands.inC(true))) {
      assertThatItSucceeded(client.await(), test, true);
      Outcome ours = server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      assertThatItSucceeded(InstalledPerftest.withoutVersions(ours), test, false);
    }
  }

  /** The commands of both sides. */
  private record Commands(List<String> options, int port, boolean connectionManager) {
    static Commands of(String test) throws Exception {
      return new Commands(List.of(test.split(" ")), TestDevice.freePort(), test.contains(" -R"));
    }

    List<String> inC(boolean client) {
      String name = "ib_" + options.get(0).replace('-', '_');
      List<String> command = new ArrayList<>(List.of(name, "-F"));
      addOptions(command, client);
      return command;
    }

    String[] inJava(boolean client) {
      List<String> command = new ArrayList<>(List.of(options.get(0)));
      addOptions(command, client);
      return command.toArray(String[]::new);
    }

    private void addOptions(List<String> command, boolean client) {
      command.addAll(List.of("-d", TestDevice.NAME, "-x", TestDevice.GID, "-p", "" + port));
      command.addAll(options.subList(1, options.size()));
      if (client) {
        command.add(connectionManager ? TestDevice.host() : "localhost");
      }
    }

    void awaitListening() throws Exception {
      if (connectionManager) {
        ChildProcess.awaitListeningCm(port);
      } else {
        ChildProcess.awaitListening(port);
      }
    }
  }

  /** On a busy machine, perftest cannot find out how fast its clock is, and prints inf. */
  private static final Pattern RESULT = Pattern.compile(" (\\d+) +(\\d+) +([\\d.]+|inf|-?nan) .*");

  private static void assertThatItSucceeded(Outcome outcome, String test, boolean client) {
    assertThat(outcome.status()).as("%s", outcome).isZero();
    assertThat(outcome.err()).isEmpty();
    boolean latencyServer =
        !client && (test.startsWith("read-lat") || test.startsWith("atomic-lat"));
    List<Matcher> results =
        outcome.out().stream().map(RESULT::matcher).filter(Matcher::matches).toList();
    assertThat(results).as("%s", outcome).hasSize(latencyServer ? 0 : 1);
    if (!latencyServer) {
      Matcher result = results.get(0);
      assertThat(result.group(1)).isEqualTo(option(test, "-s", "8"));
      int queuePairs = Integer.parseInt(option(test, "-q", "1"));
      assertThat(Integer.parseInt(result.group(2)))
          .isEqualTo(Integer.parseInt(option(test, "-n", "")) * queuePairs);
    }
  }

  private static String option(String test, String name, String otherwise) {
    List<String> words = List.of(test.split(" "));
    int index = words.indexOf(name);
    return index < 0 ? otherwise : words.get(index + 1);
  }
}
