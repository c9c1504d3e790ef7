package org.rdma4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Plays with ibv_rc_pingpong, and with itself, on the first RDMA device of this machine. */
@Tag("device")
@Timeout(120)
class RcPingPongDeviceTest {
  private static final long PATIENCE_SECONDS = 90;

  static Stream<String> games() {
    return Stream.of(
        "-s 1 -n 50 -c",
        "-s 64 -n 50 -c -e",
        "-s 4096 -n 50 -c",
        "-s 4096 -n 50 -c -e -r 1",
        "-s 65536 -n 20 -c -m 4096 -r 7",
        "-s 1048576 -n 5 -c",
        "-s 1048576 -n 5 -c -e");
  }

  @ParameterizedTest
  @MethodSource("games")
  void clientPlaysWithServerInC(String game) throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = ChildProcess.start(cServer(port, game))) {
      ChildProcess.awaitListening(port);
      assertThatClientPlayed(Outcome.of(client(port, game)), game);
      assertThatPeerPlayed(server.await());
    }
  }

  @ParameterizedTest
  @MethodSource("games")
  void serverPlaysWithClientInC(String game) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server = Outcome.begin(server(port, game));
    ChildProcess.awaitListening(port);
    List<String> command = cServer(port, game);
    command.add("localhost");
    try (ChildProcess client = ChildProcess.start(command)) {
      assertThatPeerPlayed(client.await());
      assertThatPeerPlayed(server.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-s 64 -n 50 -c", "-s 1048576 -n 5 -c -e"})
  void playsWithItself(String game) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server = Outcome.begin(server(port, game + " --warmup 3"));
    ChildProcess.awaitListening(port);
    assertThatClientPlayed(Outcome.of(client(port, game + " --warmup 3")), game);
    assertThatPeerPlayed(server.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  @Tag("slow")
  void playsAsAProcessOfItsOwn() throws Exception {
    int port = TestDevice.freePort();
    String game = "-s 64 -n 20 -c -e";
    List<String> command = SamplesJvm.command(client(port, game));
    try (ChildProcess server = ChildProcess.start(cServer(port, game))) {
      ChildProcess.awaitListening(port);
      try (ChildProcess client = ChildProcess.start(command)) {
        assertThatClientPlayed(SamplesJvm.withoutNoise(client.await()), game);
      }
      assertThatPeerPlayed(server.await());
    }
  }

  /** Closing lines as in C, and what --latency adds. */
  private static void assertThatClientPlayed(Outcome client, String game) {
    List<String> words = List.of(game.split(" "));
    String size = words.get(1);
    String iterations = words.get(3);
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

  /** A server in C that finds wrong data with -c says "invalid data", with status 0. */
  private static void assertThatPeerPlayed(Outcome peer) {
    assertThat(String.join("\n", peer.out())).contains("usec/iter").doesNotContain("invalid");
    assertThat(peer.err()).isEmpty();
    assertThat(peer.status()).isZero();
  }

  @Test
  void peerWithoutCheckIsToldToHaveIt() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = ChildProcess.start(cServer(port, "-s 4096 -n 1000000"))) {
      ChildProcess.awaitListening(port);
      // It answers with what it got, so that the content is right; only its own would not be.
      assertThat(Outcome.of(client(port, "-s 4096 -n 3 -c")).status()).isZero();
      server.kill();
    }
    int other = TestDevice.freePort();
    CompletableFuture<Outcome> server = Outcome.begin(server(other, "-s 4096 -n 50 -c"));
    ChildProcess.awaitListening(other);
    List<String> command = cServer(other, "-s 4096 -n 50");
    command.add("localhost");
    try (ChildProcess client = ChildProcess.start(command)) {
      assertThatItFailed(
          server.get(PATIENCE_SECONDS, TimeUnit.SECONDS),
          "message 1 is wrong at byte 0 of 4096: give both sides -c");
      client.kill();
    }
  }

  @Test
  void lostServerIsToldInALine() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = ChildProcess.start(cServer(port, "-s 64 -n 10000000 -e"))) {
      ChildProcess.awaitListening(port);
      CompletableFuture<Outcome> client =
          Outcome.begin(client(port, "-s 64 -n 10000000 -e --timeout 3"));
      ChildProcess.awaitAccepted(port);
      Thread.sleep(1000);
      assertThat(client).isNotDone();
      server.kill();
      assertThatItFailed(client.get(PATIENCE_SECONDS, TimeUnit.SECONDS), " of 10000000 iterations");
    }
  }

  @Test
  void lostClientIsToldInALine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        Outcome.begin(server(port, "-s 64 -n 10000000 -e --timeout 3"));
    ChildProcess.awaitListening(port);
    List<String> command = cServer(port, "-s 64 -n 10000000 -e");
    command.add("localhost");
    try (ChildProcess client = ChildProcess.start(command)) {
      ChildProcess.awaitAccepted(port);
      Thread.sleep(1000);
      assertThat(server).isNotDone();
      client.kill();
      assertThatItFailed(server.get(PATIENCE_SECONDS, TimeUnit.SECONDS), " of 10000000 iterations");
    }
  }

  @Test
  void unequalSizesAreToldInALine() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = ChildProcess.start(cServer(port, "-s 64 -n 10"))) {
      ChildProcess.awaitListening(port);
      assertThatItFailed(
          Outcome.of(client(port, "-s 4096 -n 10 --timeout 5")), "give both the same -s");
      server.kill();
    }
  }

  @Test
  void silentPeerIsToldInALine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server = Outcome.begin(server(port, "-s 64 -n 11 --timeout 2"));
    ChildProcess.awaitListening(port);
    List<String> command = cServer(port, "-s 64 -n 10");
    command.add("localhost");
    try (ChildProcess client = ChildProcess.start(command)) {
      assertThat(client.await().status()).isZero();
      assertThatItFailed(
          server.get(PATIENCE_SECONDS, TimeUnit.SECONDS), "after 10 of 11 iterations");
    }
  }

  @Test
  void missingGidIsToldInALine() {
    Outcome outcome = Outcome.of("rc-pingpong", "-d", TestDevice.NAME, "localhost");

    assertThatItFailed(outcome, "needs -g");
    assertThat(outcome.err()).singleElement().asString().contains(TestDevice.GID + " (");
  }

  @ParameterizedTest
  @CsvSource({
    "-g 255, no GID of that index",
    "-i 9, has the ports 1 to",
    "-s 2147483647, has at most",
    "-r 16777216, 'must be from 1 to'",
  })
  void whatTheDeviceLacksIsToldInALine(String option, String message) throws Exception {
    assertThatItFailed(Outcome.of(client(TestDevice.freePort(), "-s 64 -n 10 " + option)), message);
  }

  @Test
  void unknownDeviceIsToldWithThoseThereAre() {
    assertThatItFailed(
        Outcome.of("rc-pingpong", "-d", "nosuchdevice0"), "there are " + TestDevice.NAME);
    assertThatItFailed(
        Outcome.of("devinfo", "-d", "nosuchdevice0"), "there are " + TestDevice.NAME);
  }

  @Test
  void portInUseIsToldInALine() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      assertThatItFailed(
          Outcome.of(server(taken.getLocalPort(), "-s 64 -n 10")), "give both sides another -p");
    }
  }

  @Test
  void absentServerIsToldInALine() throws Exception {
    assertThatItFailed(Outcome.of(client(TestDevice.freePort(), "-s 64 -n 10")), "start it first");
  }

  @ParameterizedTest
  @CsvSource({
    "'', closed the TCP connection after 0 of 52 bytes",
    "0000:000011:, closed the TCP connection after 12 of 52 bytes",
    "....................................................., no address of a queue pair",
    "0000:000011:000000:00000000000000000000000000000000, the peer sent no GID",
  })
  void strangeClientIsToldInALine(String sent, String message) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server = Outcome.begin(server(port, "-s 64 -n 10"));
    ChildProcess.awaitListening(port);
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      client.getOutputStream().write(bytes(sent));
      client.shutdownOutput();
      assertThatItFailed(server.get(PATIENCE_SECONDS, TimeUnit.SECONDS), message);
    }
  }

  private static byte[] bytes(String sent) {
    return (sent.length() < 50 ? sent : sent + "\0").getBytes(StandardCharsets.US_ASCII);
  }

  private static void assertThatItFailed(Outcome outcome, String message) {
    assertThat(outcome.err()).singleElement().asString().contains(message);
    assertThat(outcome.status()).isEqualTo(1);
  }

  private static List<String> cServer(int port, String game) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "ibv_rc_pingpong",
                "-d",
                TestDevice.NAME,
                "-g",
                TestDevice.GID,
                "-p",
                String.valueOf(port)));
    command.addAll(List.of(game.split(" ")));
    return command;
  }

  private static String[] server(int port, String game) {
    return "rc-pingpong -d %s -g %s -p %d %s"
        .formatted(TestDevice.NAME, TestDevice.GID, port, game)
        .split(" ");
  }

  private static String[] client(int port, String game) {
    return "rc-pingpong -d %s -g %s -p %d --latency localhost %s"
        .formatted(TestDevice.NAME, TestDevice.GID, port, game)
        .split(" ");
  }
}
