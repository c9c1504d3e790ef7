package org.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs UC, UD and SRQ ping-pong against the programs in C, and against itself. */
@Tag("device")
@Tag("c-programs")
@Tag("needs-connecting-by-address")
@Tag("alone")
class PingPongFamilyDeviceTest {
  private static final long TIMEOUT_SECONDS = 90;

  /** The kind of queue pair, and the options of both sides. */
  static Stream<String> options() {
    return Stream.of(
        "uc -s 1 -n 50 -c",
        "uc -s 4096 -n 50 -c -e",
        "uc -s 65536 -n 20 -c -m 4096 -r 7",
        "ud -s 1 -n 50 -c",
        "ud -s 1024 -n 50 -c -e -r 3",
        "srq -s 64 -n 200 -c",
        "srq -s 4096 -n 200 -c -e -q 4 -r 8",
        "srq -s 65536 -n 20 -c -q 1 -r 2");
  }

  @ParameterizedTest
  @MethodSource("options")
  void clientWorksWithServerInC(String options) throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = ChildProcess.start(PingPongCommands.serverInC(port, options))) {
      ChildProcess.awaitListening(port);
      assertThatItSucceeded(InThisJvm.run(PingPongCommands.client(port, options)), options);
      assertThatItSucceeded(server.await(), options);
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
      assertThatItSucceeded(client.await(), options);
      assertThatItSucceeded(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS), options);
    }
  }

  @ParameterizedTest
  @MethodSource("options")
  void worksWithItself(String options) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, options + " --warmup 3"));
    ChildProcess.awaitListening(port);
    Outcome client =
        InThisJvm.run(PingPongCommands.client(port, options + " --warmup 3 --latency"));
    assertThatItSucceeded(client, options);
    assertThat(client.out()).last().asString().startsWith("latency_us ");
    assertThatItSucceeded(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS), options);
  }

  @Test
  void lostMessageIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, "uc -s 64 -n 11 --timeout 2"));
    ChildProcess.awaitListening(port);
    List<String> command = PingPongCommands.clientInC(port, "uc -s 64 -n 10");
    try (ChildProcess client = ChildProcess.start(command)) {
      assertThat(client.await().status()).isZero();
      server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).assertFailed("after 10 of 11 iterations");
    }
  }

  @Test
  void unequalNumbersOfQueuePairsAreReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(PingPongCommands.server(port, "srq -s 64 -n 100 -q 5"));
    ChildProcess.awaitListening(port);
    Outcome client =
        InThisJvm.run(PingPongCommands.client(port, "srq -s 64 -n 100 -q 2 --timeout 5"));
    server
        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .assertFailed("the peer has 2 queue pairs, this side has 5; give both the same -q");
    client.assertFailed("closed the TCP connection");
  }

  @ParameterizedTest
  @CsvSource({
    "ud -s 100000, '-s is 100000, must be at most 4096 for datagrams'",
    "uc -m 4096 -s 64 -i 9, '-i is 9, must be from 1 to 1, the number of ports'",
    "srq -g 255 -s 64, has no GID at that index",
  })
  void unsupportedOptionIsReportedInOneLine(String options, String message) throws Exception {
    InThisJvm.run(PingPongCommands.client(TestDevice.freePort(), options)).assertFailed(message);
  }

  /** With -c a server in C that finds wrong data prints "invalid data", but exits with status 0. */
  private static void assertThatItSucceeded(Outcome outcome, String options) {
    List<String> words = List.of(options.split(" "));
    int queuePairs = words.get(0).equals("srq") ? queuePairs(words) : 1;
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out())
        .filteredOn(line -> line.contains("local address"))
        .hasSize(queuePairs);
    assertThat(outcome.out())
        .filteredOn(line -> line.contains("remote address"))
        .hasSize(queuePairs);
    assertThat(outcome.out())
        .anyMatch(line -> line.startsWith(words.get(4) + " iters in "))
        .noneMatch(line -> line.contains("invalid"));
    assertThat(outcome.status()).isZero();
  }

  private static int queuePairs(List<String> words) {
    int option = words.indexOf("-q");
    return option < 0 ? 16 : Integer.parseInt(words.get(option + 1));
  }
}
