package org.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.Main;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs rc-pingpong against ibv_rc_pingpong, and against itself. */
@Tag("device")
@Tag("c-programs")
@Tag("needs-connecting-by-address")
@Tag("alone")
class RcPingPongDeviceTest {
  private static final long TIMEOUT_SECONDS = 90;
  private static final String THREE_ROUNDS = "rc -s 64 -n 20 -e --rounds 3";

  static Stream<String> options() {
    return Stream.of(
        "rc -s 1 -n 50 -c",
        "rc -s 64 -n 50 -c -e",
        "rc -s 4096 -n 50 -c",
        "rc -s 4096 -n 50 -c -e -r 1",
        "rc -s 65536 -n 20 -c -m 4096 -r 7",
        "rc -s 1 -n 50 -c -N",
        "rc -s 4096 -n 50 -c -e -N",
        "rc -s 1048576 -n 5 -c",
        "rc -s 1048576 -n 5 -c -e");
  }

  @ParameterizedTest
  @MethodSource("options")
  void clientWorksWithServerInC(String options) throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = ChildProcess.start(PingPongCommands.serverInC(port, options))) {
      ChildProcess.awaitListening(port);
      assertThatClientSucceeded(
          InThisJvm.run(PingPongCommands.client(port, options + " --latency")), options);
      assertThatPeerSucceeded(server.await());
    }
  }

  @ParameterizedTest
  @MethodSource("options")
  void serverWorksWithClientInC(String options) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server = InThisJvm.begin(PingPongCommands.server(port, options));
    ChildProcess.awaitListening(port);
    List<String> command = PingPongCommands.clientInC(port, options);
    try (ChildProcess client = ChildProcess.start(command)) {
      assertThatPeerSucceeded(client.await());
      assertThatPeerSucceeded(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"rc -s 64 -n 50 -c", "rc -s 1048576 -n 5 -c -e"})
  void worksWithItself(String options) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, options + " --warmup 3"));
    ChildProcess.awaitListening(port);
    assertThatClientSucceeded(
        InThisJvm.run(PingPongCommands.client(port, options + " --warmup 3 --latency")), options);
    assertThatPeerSucceeded(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  @Tag("slow")
  void worksInAnotherProcess() throws Exception {
    int port = TestDevice.freePort();
    String options = "rc -s 64 -n 20 -c -e";
    List<String> command =
        JavaCommand.of(Main.class, PingPongCommands.client(port, options + " --latency"));
    try (ChildProcess server = ChildProcess.start(PingPongCommands.serverInC(port, options))) {
      ChildProcess.awaitListening(port);
      try (ChildProcess client = ChildProcess.start(command)) {
        assertThatClientSucceeded(client.await().withoutNoise(), options);
      }
      assertThatPeerSucceeded(server.await());
    }
  }

  @Test
  void clientWaitsForALineBeforeEachRoundExceptTheFirst() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, THREE_ROUNDS));
    ChildProcess.awaitListening(port);
    try (ChildProcess client = ChildProcess.startToType(threeRoundsOfAClient(port))) {
      client.awaitOutput("20 iters in ");
      // Far longer than rounds that do not wait would take.
      Thread.sleep(2000);
      assertThat(client.isAlive()).isTrue();
      client.type("\n\n");
      assertThatThreeRoundsWereReported(client.await());
    }
    assertThat(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).status()).isZero();
  }

  @Test
  void clientWithoutInputRunsAllRounds() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, THREE_ROUNDS));
    ChildProcess.awaitListening(port);
    try (ChildProcess client = ChildProcess.start(threeRoundsOfAClient(port))) {
      assertThatThreeRoundsWereReported(client.await());
    }
    assertThat(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).status()).isZero();
  }

  private static List<String> threeRoundsOfAClient(int port) throws Exception {
    return JavaCommand.of(Main.class, PingPongCommands.client(port, THREE_ROUNDS + " --latency"));
  }

  private static void assertThatThreeRoundsWereReported(Outcome client) {
    assertThat(client.status()).isZero();
    assertThat(client.out()).filteredOn(line -> line.startsWith("20 iters in ")).hasSize(3);
    assertThat(client.out()).last().asString().contains("iterations=60 ");
  }

  /** Asserts that it printed the lines of C, and the line that --latency adds. */
  private static void assertThatClientSucceeded(Outcome client, String options) {
    List<String> words = List.of(options.split(" "));
    String size = words.get(2);
    String iterations = words.get(4);
    assertThat(client.err()).isEmpty();
    assertThat(client.status()).isZero();
    assertThat(client.out()).hasSize(5);
    assertThat(client.out().get(0)).matches("  local address:  " + ADDRESS);
    assertThat(client.out().get(1)).matches("  remote address: " + ADDRESS);
    assertThat(client.out().get(2))
        .matches(
            "%d bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec"
                .formatted(2 * Long.parseLong(size) * Long.parseLong(iterations)));
    assertThat(client.out().get(3))
        .matches(iterations + " iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter");
    assertThat(client.out().get(4))
        .matches(
            "latency_us size=%s iterations=%s min=N median=N p99=N max=N"
                .formatted(size, iterations)
                .replace("N", "\\d+\\.\\d\\d"));
  }

  private static final String ADDRESS =
      "LID 0x\\p{XDigit}{4}, QPN 0x\\p{XDigit}{6}, PSN 0x\\p{XDigit}{6}, GID [0-9a-f:.]+";

  /** With -c a server in C that finds wrong data prints "invalid data", but exits with status 0. */
  private static void assertThatPeerSucceeded(Outcome peer) {
    assertThat(String.join("\n", peer.out())).contains("usec/iter").doesNotContain("invalid");
    assertThat(peer.err()).isEmpty();
    assertThat(peer.status()).isZero();
  }

  @Test
  void peerWithoutCheckIsReported() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server =
        ChildProcess.start(PingPongCommands.serverInC(port, "rc -s 4096 -n 1000000"))) {
      ChildProcess.awaitListening(port);
      // The server in C answers with the received bytes, which are right.
      assertThat(InThisJvm.run(PingPongCommands.client(port, "rc -s 4096 -n 3 -c")).status())
          .isZero();
      server.kill();
    }
    int other = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(other, "rc -s 4096 -n 50 -c"));
    ChildProcess.awaitListening(other);
    List<String> command = PingPongCommands.clientInC(other, "rc -s 4096 -n 50");
    try (ChildProcess client = ChildProcess.start(command)) {
      server
          .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
          .assertFailed("message 1 differs at byte 0 of 4096; give both sides -c");
      client.kill();
    }
  }

  @Test
  void lostServerIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server =
        ChildProcess.start(PingPongCommands.serverInC(port, "rc -s 64 -n 10000000 -e"))) {
      ChildProcess.awaitListening(port);
      CompletableFuture<Outcome> client =
          InThisJvm.begin(PingPongCommands.client(port, "rc -s 64 -n 10000000 -e --timeout 3"));
      ChildProcess.awaitAccepted(port);
      Thread.sleep(1000);
      assertThat(client).isNotDone();
      server.kill();
      client.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).assertFailed(" of 10000000 iterations");
    }
  }

  @Test
  void lostClientIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, "rc -s 64 -n 10000000 -e --timeout 3"));
    ChildProcess.awaitListening(port);
    List<String> command = PingPongCommands.clientInC(port, "rc -s 64 -n 10000000 -e");
    try (ChildProcess client = ChildProcess.start(command)) {
      ChildProcess.awaitAccepted(port);
      Thread.sleep(1000);
      assertThat(server).isNotDone();
      client.kill();
      server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).assertFailed(" of 10000000 iterations");
    }
  }

  @Test
  void unequalSizesAreReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server =
        ChildProcess.start(PingPongCommands.serverInC(port, "rc -s 64 -n 10"))) {
      ChildProcess.awaitListening(port);
      InThisJvm.run(PingPongCommands.client(port, "rc -s 4096 -n 10 --timeout 5"))
          .assertFailed("give both sides the same -s");
      server.kill();
    }
  }

  @Test
  void silentPeerIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, "rc -s 64 -n 11 --timeout 2"));
    ChildProcess.awaitListening(port);
    List<String> command = PingPongCommands.clientInC(port, "rc -s 64 -n 10");
    try (ChildProcess client = ChildProcess.start(command)) {
      assertThat(client.await().status()).isZero();
      server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).assertFailed("after 10 of 11 iterations");
    }
  }

  @Test
  void missingGidIsReportedInOneLine() {
    Outcome outcome = InThisJvm.run("rc-pingpong", "-d", TestDevice.NAME, "localhost");

    outcome.assertFailed("needs a GID; give -g one of these indices: ");
    assertThat(outcome.err()).singleElement().asString().contains(TestDevice.GID + " (");
  }

  @ParameterizedTest
  @CsvSource({
    "-g 255, has no GID at that index",
    "-i 9, '-i is 9, must be from 1 to 1, the number of ports'",
    "-r 16777216, 'must be from 1 to'",
    "-t, does not support completion timestamps",
  })
  void unsupportedOptionIsReportedInOneLine(String option, String message) throws Exception {
    InThisJvm.run(PingPongCommands.client(TestDevice.freePort(), "rc -s 64 -n 10 " + option))
        .assertFailed(message);
  }

  @Test
  void pagingOnDemandWorksOrIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, "rc -s 64 -n 10 -o -c"));
    if (TestDevice.pagesOnDemand()) {
      ChildProcess.awaitListening(port);
      assertThat(InThisJvm.run(PingPongCommands.client(port, "rc -s 64 -n 10 -o -c")).status())
          .isZero();
      assertThat(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).status()).isZero();
    } else {
      server
          .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
          .assertFailed("does not support on-demand paging");
    }
  }

  @Test
  void tooManyBytesAreReportedInOneLine() throws Exception {
    // Soft-RoCE of newer kernels sends as much per message, but cannot register it.
    String message =
        TestDevice.maxMessageSize() < Integer.MAX_VALUE
            ? "-s is 2147483647, must be at most "
            : "ibv_reg_mr(2147483647 bytes, [LOCAL_WRITE]) failed: ENOMEM";
    InThisJvm.run(PingPongCommands.client(TestDevice.freePort(), "rc -n 10 -s 2147483647"))
        .assertFailed(message);
  }

  @Test
  void unknownDeviceIsReportedWithTheExistingOnes() {
    InThisJvm.run("rc-pingpong", "-d", "nosuchdevice0")
        .assertFailed("this machine has " + TestDevice.NAME);
    InThisJvm.run("devinfo", "-d", "nosuchdevice0")
        .assertFailed("this machine has " + TestDevice.NAME);
  }

  @Test
  void portInUseIsReportedInOneLine() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      InThisJvm.run(PingPongCommands.server(taken.getLocalPort(), "rc -s 64 -n 10"))
          .assertFailed("give both sides another -p");
    }
  }

  @Test
  void absentServerIsReportedInOneLine() throws Exception {
    InThisJvm.run(PingPongCommands.client(TestDevice.freePort(), "rc -s 64 -n 10"))
        .assertFailed("start it first");
  }

  @ParameterizedTest
  @CsvSource({
    "'', closed the TCP connection after 0 of 52 bytes",
    "0000:000011:, closed the TCP connection after 12 of 52 bytes",
    "....................................................., not the address of a queue pair",
    "0000:000011:000000:00000000000000000000000000000000, the peer sent no GID",
  })
  void strangeClientIsReportedInOneLine(String sent, String message) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, "rc -s 64 -n 10"));
    ChildProcess.awaitListening(port);
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      client.getOutputStream().write(bytes(sent));
      client.shutdownOutput();
      server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).assertFailed(message);
    }
  }

  private static byte[] bytes(String sent) {
    return (sent.length() < 50 ? sent : sent + "\0").getBytes(StandardCharsets.US_ASCII);
  }
}
