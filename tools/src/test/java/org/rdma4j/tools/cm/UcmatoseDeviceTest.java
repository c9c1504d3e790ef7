package org.rdma4j.tools.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.CmRun;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs ucmatose against the program in C, and against itself. */
@Tag("device")
@Tag("c-programs")
@Timeout(200)
class UcmatoseDeviceTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String HOST = TestDevice.host();
  private static final String MIGRATION = "migrating to new event channel";

  static Stream<String> options() {
    return Stream.of(
        "-C 10 -S 100",
        "-c 3 -C 5 -S 5000",
        "-f ip -t 0x10 -a 14 -C 2",
        "-P ib -C 1",
        "-m -C 1 -b " + HOST);
  }

  @ParameterizedTest
  @MethodSource("options")
  void clientWorksWithServerInC(String options) throws Exception {
    int port = TestDevice.freePort();
    assertThatBothSucceeded(
        options, CmRun.withServerInC(port, server(port, options), client(port, options)));
  }

  @ParameterizedTest
  @MethodSource("options")
  void serverWorksWithClientInC(String options) throws Exception {
    int port = TestDevice.freePort();
    assertThatBothSucceeded(
        options, CmRun.withClientInC(port, server(port, options), client(port, options)));
  }

  private static void assertThatBothSucceeded(String options, CmRun run) {
    assertThat(run.client().err()).isEmpty();
    assertThat(run.client().out())
        .isEqualTo(
            lines(
                options,
                "cmatose: starting client",
                "cmatose: connecting",
                "receiving data transfers",
                "sending replies",
                "data transfers complete",
                MIGRATION,
                "test complete",
                "return status 0"));
    assertThat(run.client().status()).isZero();
    assertThat(run.server().err()).isEmpty();
    assertThat(run.server().out())
        .isEqualTo(
            lines(
                options,
                "cmatose: starting server",
                "initiating data transfers",
                "completing sends",
                "receiving data transfers",
                "data transfers complete",
                MIGRATION,
                "cmatose: disconnecting",
                "disconnected",
                "test complete",
                "return status 0"));
    assertThat(run.server().status()).isZero();
  }

  private static List<String> lines(String options, String... lines) {
    return Stream.of(lines)
        .filter(line -> options.contains("-m") || !line.equals(MIGRATION))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"-S 0", "-C 0 -c 2"})
  void connectionsWithoutMessagesAreMadeAndEnded(String options) throws Exception {
    int port = TestDevice.freePort();
    CmRun run = CmRun.withClientInC(port, server(port, options), client(port, options));

    assertThat(run.server().out())
        .containsExactly(
            "cmatose: starting server",
            "cmatose: disconnecting",
            "disconnected",
            "test complete",
            "return status 0");
    assertThat(run.server().status()).isZero();
    assertThat(run.client().status()).isZero();
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void extraClientIsRejectedAndOneThatDisconnectsEndsTheServer() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> served =
        InThisJvm.begin(server(port, "-C 1 --timeout 1000").split(" "));
    ChildProcess.awaitListeningCm(port);
    try (SynchronousCmId first = SynchronousCmId.open(PortSpace.TCP)) {
      first.resolveAddress(new InetSocketAddress(HOST, port), TIMEOUT);
      first.resolveRoute(TIMEOUT);
      try (SimpleMessages queues = SimpleMessages.create(first.id(), 1, 1)) {
        queues.postReceive(0, queues.registerMessages(100).slice(0, 100));
        first.connect(ConnectionConfig.DEFAULT, TIMEOUT);
        assertThat(queues.awaitReceive(TIMEOUT)).isPresent();

        assertThatItWasRejected(InThisJvm.run(client(port, "-C 1").split(" ")));
      }
    }
    Outcome server = served.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    server.assertFailed("a peer disconnected early");
    assertThat(server.out())
        .containsSubsequence("receiving data transfers", "cmatose: failing connection request");
  }

  @Tag("needs-remote-errors")
  @Test
  void clientThatSendsTooMuchDoesNotEndTheExchangeWithTheOthers() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> served = InThisJvm.begin(server(port, "-c 2 -C 1").split(" "));
    ChildProcess.awaitListeningCm(port);
    try (SynchronousCmId noisy = SynchronousCmId.open(PortSpace.TCP)) {
      noisy.resolveAddress(new InetSocketAddress(HOST, port), TIMEOUT);
      noisy.resolveRoute(TIMEOUT);
      try (SimpleMessages queues = SimpleMessages.create(noisy.id(), 1, 1)) {
        noisy.connect(ConnectionConfig.DEFAULT, TIMEOUT);
        queues.postSend(0, queues.registerMessages(5000).slice(0, 5000));

        Outcome client = InThisJvm.run(client(port, "-C 1").split(" "));
        assertThat(client.err()).isEmpty();
        assertThat(client.status()).isZero();
      }
    }
    Outcome server = served.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    assertThat(server.err()).hasSize(2);
    assertThat(server.err().get(0)).startsWith("a client was lost: ");
    assertThat(server.err().get(1)).contains("1 of 2 clients were lost");
    assertThat(server.status()).isEqualTo(1);
  }

  @Test
  void clientThatLeavesBeforeTheExchangeIsReplaced() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> served = InThisJvm.begin(server(port, "-c 2 -C 1").split(" "));
    ChildProcess.awaitListeningCm(port);
    try (SynchronousCmId first = SynchronousCmId.open(PortSpace.TCP)) {
      first.resolveAddress(new InetSocketAddress(HOST, port), TIMEOUT);
      first.resolveRoute(TIMEOUT);
      try (SimpleMessages queues = SimpleMessages.create(first.id(), 1, 1)) {
        assertThat(queues.queuePair().number()).isPositive();
        first.connect(ConnectionConfig.DEFAULT, TIMEOUT);
        first.disconnect(TIMEOUT);
      }
    }
    Outcome client = InThisJvm.run(client(port, "-c 2 -C 1").split(" "));
    assertThat(client.err()).isEmpty();
    assertThat(client.status()).isZero();
    Outcome server = served.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    assertThat(server.err())
        .containsExactly("a client was lost: a peer disconnected early; check its output");
    assertThat(server.status()).isZero();
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void clientIsRejectedIfTheDeviceCannotHoldSoManyMessages() throws Exception {
    int port = TestDevice.freePort();
    CmRun run = CmRun.inJava(port, server(port, "-C 65536"), client(port, "-C 1"));

    assertThatItWasRejected(run.client());
    run.server().assertFailed("65536");
    assertThat(run.server().out()).contains("cmatose: failing connection request");
  }

  private static void assertThatItWasRejected(Outcome client) {
    client.assertFailed("The program that listens there rejected the connection");
    assertThat(client.out()).contains("cmatose: event: RDMA_CM_EVENT_REJECTED, error: 28");
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void absentPeersAreReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    Outcome client = InThisJvm.run(client(port, "-C 1").split(" "));
    client.assertFailed("No program listens on that port");
    assertThat(client.out()).contains("cmatose: event: RDMA_CM_EVENT_REJECTED, error: 8");

    Outcome unreached =
        InThisJvm.run(client(port, "-f gid").replace(HOST, "::ffff:" + HOST).split(" "));
    unreached.assertFailed("ENODEV");

    Outcome server = InThisJvm.run(server(port, "--timeout 1").split(" "));
    server.assertFailed("no client connected within 1 s");
    assertThat(server.out()).endsWith("test complete", "return status 1");
  }

  private static String server(int port, String options) {
    return "ucmatose -p %d %s".formatted(port, options);
  }

  private static String client(int port, String options) {
    return "ucmatose -s %s -p %d %s".formatted(HOST, port, options);
  }
}
