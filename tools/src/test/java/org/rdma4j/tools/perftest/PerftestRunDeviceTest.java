package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.Main;
import org.rdma4j.tools.testing.CmRun;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** What the tests print, and how they end, apart from their work with perftest. */
@Tag("device")
@Tag("c-programs")
@Tag("needs-connecting-by-address")
@Tag("alone")
@Timeout(180)
class PerftestRunDeviceTest {
  private static final long TIMEOUT_SECONDS = 150;
  private static final String LATENCY = "\\s\\d+\\s+\\d+(\\s+[\\d.]+){7}\\s*";

  /** The outcomes of both sides. */
  private record Both(Outcome server, Outcome client) {
    static Both of(String serverOptions, String clientOptions) throws Exception {
      int port = TestDevice.freePort();
      CompletableFuture<Outcome> server = InThisJvm.begin(command(port, serverOptions));
      ChildProcess.awaitListening(port);
      Outcome client = InThisJvm.run(command(port, clientOptions + " localhost"));
      return new Both(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS), client);
    }

    static Both of(String options) throws Exception {
      return of(options, options);
    }
  }

  private static String[] command(int port, String options) {
    List<String> command = new ArrayList<>(List.of(options.split(" ")));
    command.addAll(
        1, List.of("-d", TestDevice.NAME, "-x", TestDevice.GID, "-p", String.valueOf(port)));
    return command.toArray(String[]::new);
  }

  private static List<String> commandInC(int port, String options) {
    List<String> command = new ArrayList<>(List.of(command(port, options)));
    command.set(0, "ib_" + command.get(0).replace('-', '_'));
    command.add("-F");
    return command;
  }

  @Test
  void bothSidesOfALatencyTestPrintTheColumnsOfPerftest() throws Exception {
    Both both = Both.of("send-lat -s 64 -n 50");
    for (Outcome outcome : List.of(both.server(), both.client())) {
      assertThat(outcome.err()).isEmpty();
      assertThat(outcome.status()).isZero();
      assertThat(outcome.out()).contains("                    Send Latency Test");
      assertThat(outcome.out()).anyMatch(line -> line.matches(LATENCY));
      assertThat(outcome.out())
          .contains(
              " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
                  + "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ");
    }
    assertThat(both.server().out()).contains("* Waiting for client to connect... *");
  }

  @ParameterizedTest
  @CsvSource({
    "send-lat -a -n 6, 23",
    "write-lat -a -n 6, 23",
    "read-bw -a -n 6, 23",
    "send-bw -a -n 6 -c UD, 12",
    "write-bw -a -n 6 -b, 23",
  })
  void allSizesAreTestedInTurn(String options, int sizes) throws Exception {
    Both both = Both.of(options);
    assertThat(both.client().err()).isEmpty();
    assertThat(both.client().out())
        .filteredOn(line -> line.matches(" \\d+ +6 .*"))
        .hasSize(sizes)
        .first()
        .asString()
        .startsWith(" 2 ");
    assertThat(both.server().status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "send-lat -s 64 -D 3 -f 1",
    "write-lat -s 64 -D 3 -f 1",
    "read-lat -s 64 -D 3 -f 0",
    "send-bw -s 64 -D 3 -f 1",
    "send-bw -s 64 -D 3 -f 1 -b",
    "write-bw -s 64 -D 3 -f 1 -l 4 -q 2",
  })
  void timedTestEndsInTime(String options) throws Exception {
    Both both = Both.of(options);
    assertThat(both.client().err()).isEmpty();
    assertThat(both.client().out())
        .filteredOn(line -> line.matches(" 64 +[1-9]\\d* +.*"))
        .hasSize(1);
    assertThat(both.server().status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"send-lat -s 64 -n 50, -c UD", "write-bw -s 64 -n 50, -q 3"})
  void worksWithItselfThroughTheConnectionManager(String options, String more) throws Exception {
    int port = TestDevice.freePort();
    String command = "%s %s -R -p %d".formatted(options, more, port);
    CmRun run = CmRun.inJava(port, command, command + " " + TestDevice.host());
    assertThat(run.client().err()).isEmpty();
    assertThat(run.client().status()).isZero();
    assertThat(run.server().status()).isZero();
  }

  @Test
  void jsonIsTheOnlyOutput() throws Exception {
    Outcome client =
        Both.of("write-bw -s 4096 -n 50", "write-bw -s 4096 -n 50 --output json").client();
    assertThat(client.out())
        .singleElement()
        .asString()
        .startsWith("{\"test_info\": {\"test\": \"RDMA_Write_BW_Test\"")
        .contains("\"MsgSize\": 4096, \"n_iterations\": 50, \"BW_peak\": ");
  }

  @Test
  void singleNumberIsTheOnlyOutput() throws Exception {
    Outcome client =
        Both.of("send-lat -s 64 -n 50", "send-lat -s 64 -n 50 --output latency").client();
    assertThat(client.out()).singleElement().asString().matches("\\d+\\.\\d{6}");
  }

  @Test
  void warmupIsNotMeasured() throws Exception {
    Outcome client =
        Both.of("send-lat -s 64 -n 50", "send-lat -s 64 -n 50 --warmup 30 -U").client();
    assertThat(client.out()).anyMatch(line -> line.matches(" 64 +20 .*"));
    assertThat(client.out()).filteredOn(line -> line.matches("\\d+, [\\d.]+")).hasSize(19);
  }

  @Test
  void progressIsShownOnRequest() throws Exception {
    Outcome client =
        Both.of("write-bw -s 64 -D 4 -f 0", "write-bw -s 64 -D 4 -f 0 --progress").client();
    assertThat(client.err()).isNotEmpty().allMatch(line -> line.matches(" +\\d+ messages"));
  }

  @Test
  void unequalSizesAreReportedInOneLine() throws Exception {
    Both both = Both.of("send-lat -s 128 -n 50 --timeout 5", "send-lat -s 64 -n 50 --timeout 5");
    both.server()
        .assertFailed("the peer sends messages of 64 bytes, this side has -s 128; give both");
    both.client().assertFailed("nothing arrived from the peer for 5 s");
  }

  @Test
  void unequalNumbersOfQueuePairsAreReportedInOneLine() throws Exception {
    Both fewer = Both.of("write-bw -q 4 -n 50 --timeout 5", "write-bw -q 2 -n 50 --timeout 5");
    fewer.server().assertFailed("the peer has 2 queue pairs, this side has 4; give both");
    Both more = Both.of("write-bw -q 2 -n 50 --timeout 5", "write-bw -q 4 -n 50 --timeout 5");
    more.server().assertFailed("the peer has more than the 2 queue pairs of this side");
  }

  @Test
  void otherOptionsOfTheClientAreReportedByTheServer() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server = InThisJvm.begin(command(port, "write-bw -s 65536 -n 50"));
    ChildProcess.awaitListening(port);
    List<String> command = commandInC(port, "write-bw -s 4096 -n 60 localhost");
    try (ChildProcess client = ChildProcess.start(command)) {
      assertThat(client.await().status()).isZero();
    }
    Outcome outcome = server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    assertThat(InstalledPerftest.withoutVersions(outcome).err())
        .singleElement()
        .asString()
        .contains("the peer measured 60 messages of 4096 bytes")
        .contains("this side's options say 50 messages of 65536 bytes");
  }

  @Test
  void silentPeerIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(command(port, "send-lat -s 64 -n 51 --timeout 3"));
    ChildProcess.awaitListening(port);
    List<String> command = commandInC(port, "send-lat -s 64 -n 50 localhost");
    try (ChildProcess client = ChildProcess.start(command)) {
      Outcome outcome = server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      InstalledPerftest.withoutVersions(outcome)
          .assertFailed("nothing arrived from the peer for 3 s after 50 messages");
      client.kill();
    }
  }

  @Test
  void otherProgramIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(command(port, "send-lat -s 64 -n 51 --timeout 3"));
    ChildProcess.awaitListening(port);
    InThisJvm.run(
        "rc-pingpong", "-d", TestDevice.NAME, "-g", TestDevice.GID, "-p", "" + port, "localhost");
    server
        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .assertFailed("instead of its version; check that it is ib_send_lat");
  }

  @Test
  void absentServerIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    InThisJvm.run(command(port, "read-lat localhost")).assertFailed("start it first");
    InThisJvm.run(command(port, "read-lat -R " + TestDevice.host())).assertFailed("start it first");
  }

  @Test
  @Tag("slow")
  void interruptedTestPrintsWhatItHasMeasured() throws Exception {
    int port = TestDevice.freePort();
    List<String> command =
        JavaCommand.of(Main.class, command(port, "write-bw -s 64 --run_infinitely -D 1 localhost"));
    try (ChildProcess server = ChildProcess.start(commandInC(port, "write-bw -s 64"))) {
      ChildProcess.awaitListening(port);
      try (ChildProcess client = ChildProcess.start(command)) {
        client.awaitOutput(" 64  ");
        client.interrupt();
        Outcome outcome = client.await();
        assertThat(outcome.status()).isEqualTo(128 + 2);
        assertThat(outcome.out())
            .filteredOn(line -> line.startsWith(" 64  "))
            .hasSizeGreaterThan(1);
      }
      server.kill();
    }
  }

  @Test
  @Tag("slow")
  void comparePrintsARatioForEachPair() throws Exception {
    Outcome outcome =
        InThisJvm.run(
            "compare",
            "write-bw",
            "-N",
            "1",
            "--",
            "-d",
            TestDevice.NAME,
            "-x",
            TestDevice.GID,
            "-p",
            String.valueOf(TestDevice.freePort()),
            "-s",
            "4096",
            "-n",
            "500");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.status()).isZero();
    // In a guest only the first compiler runs, which a note says.
    List<String> lines = outcome.out().stream().filter(line -> !line.startsWith("note: ")).toList();
    assertThat(lines).hasSize(5);
    assertThat(lines.get(2)).matches(" +1 +[\\d.]+ +[\\d.]+ +[\\d.]+");
    assertThat(lines.get(3)).startsWith("median ratio ");
    assertThat(lines.get(4)).startsWith("no conclusion: 1 pairs are too few");
  }

  @Test
  void failureOfAComparedProgramIsReportedInOneLine() throws Exception {
    InThisJvm.run("compare", "send-lat", "-N", "1", "--", "-d", "nosuchdevice0", "-n", "50")
        .assertFailed("the server of C ended before it listened");
  }
}
