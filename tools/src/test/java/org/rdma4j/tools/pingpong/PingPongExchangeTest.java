package org.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.TcpPeer;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

@Timeout(30)
class PingPongExchangeTest {
  private static final String TEXT = "0012:00001f:ab5cd3:00000000000000000000ffffc0000201\0";
  private static final QueuePairAddress ADDRESS =
      new QueuePairAddress(0x12, 0x1f, 0xab5cd3, Gid.ofHex("00000000000000000000ffffc0000201"));
  private static final QueuePairAddress OTHER = new QueuePairAddress(0, 0x11, 0, Gid.ZERO);
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(200);

  @Test
  void messageHasTheFormatOfC() {
    byte[] message = PingPongExchange.format(ADDRESS);

    assertThat(message).hasSize(PingPongExchange.MESSAGE_BYTES).isEqualTo(ascii(TEXT));
    assertThat(exchange(LONG).parse(message)).isEqualTo(ADDRESS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "GET / HTTP/1.1",
        "0012:00001f:ab5cd3:00000000000000000000ffffc000020",
        "0012:00001f:ab5cd3:00000000000000000000ffffc00002010",
        "0012:00001f:ab5cd3:00000000000000000000ffffc000020g\0",
        "001200001f0ab5cd3000000000000000000000ffffc000020100\0",
        "+012:00001f:ab5cd3:00000000000000000000ffffc0000201\0",
        "\033[2J:00001f:ab5cd3:00000000000000000000ffffc0000201\0",
      })
  void noiseIsRefused(String noise) {
    assertThatExceptionOfType(Failure.class)
        .isThrownBy(() -> exchange(LONG).parse(ascii(noise)))
        .withMessageContaining("not the address of a queue pair")
        .satisfies(failure -> assertThat(failure.getMessage()).matches("[ -~]*"));
  }

  @Test
  void serverConnectsBeforeItAnswers() throws Exception {
    List<QueuePairAddress> connected = new ArrayList<>();
    try (ServerSocket listening = TcpPeer.listen(0)) {
      CompletableFuture<QueuePairAddress> client =
          CompletableFuture.supplyAsync(
              () ->
                  exchange(LONG)
                      .asClient("localhost", listening.getLocalPort(), List.of(ADDRESS))
                      .get(0));
      List<QueuePairAddress> remote =
          exchange(LONG)
              .asServer(
                  listening,
                  List.of(OTHER),
                  addresses -> {
                    assertThat(client).isNotDone();
                    connected.addAll(addresses);
                  });
      assertThat(remote).containsExactly(ADDRESS);
      assertThat(client.get()).isEqualTo(OTHER);
    }
    assertThat(connected).containsExactly(ADDRESS);
  }

  @Test
  void severalAddressesAreExchangedInTheirOrder() throws Exception {
    List<QueuePairAddress> clients = new ArrayList<>();
    List<QueuePairAddress> servers = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      clients.add(new QueuePairAddress(0, i, 2 * i, Gid.ZERO));
      servers.add(new QueuePairAddress(0, 1000 + i, 0, Gid.ZERO));
    }
    try (ServerSocket listening = TcpPeer.listen(0)) {
      CompletableFuture<List<QueuePairAddress>> client =
          CompletableFuture.supplyAsync(
              () -> exchange(LONG).asClient("localhost", listening.getLocalPort(), clients));
      assertThat(exchange(LONG).asServer(listening, servers, addresses -> {})).isEqualTo(clients);
      assertThat(client.get()).isEqualTo(servers);
    }
  }

  @Test
  void serverReportsThatTheClientClosed() throws Exception {
    assertThatServerFails("0012:00", true, LONG, "closed the TCP connection after 7 of 52 bytes");
  }

  @Test
  void serverReportsThatTheClientSentNoise() throws Exception {
    assertThatServerFails("x".repeat(52), true, LONG, "the peer sent \"xxxx");
  }

  @Test
  void serverReportsThatTheClientIsSilent() throws Exception {
    assertThatServerFails("0012", false, SHORT, "did not send its whole message");
  }

  @Test
  void serverReportsThatTheClientDidNotEndTheExchange() throws Exception {
    assertThatServerFails(TEXT + "what?", true, LONG, "did not end the exchange");
  }

  @Test
  void serverReportsThatNoClientCame() throws Exception {
    try (ServerSocket listening = TcpPeer.listen(0)) {
      assertThatExceptionOfType(Failure.class)
          .isThrownBy(() -> exchange(SHORT).asServer(listening, List.of(OTHER), address -> {}))
          .withMessageContaining("no client connected to TCP port " + listening.getLocalPort());
    }
  }

  private static void assertThatServerFails(
      String sent, boolean closes, Duration timeout, String message) throws IOException {
    try (ServerSocket listening = TcpPeer.listen(0);
        Socket client = new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort())) {
      client.getOutputStream().write(ascii(sent));
      if (closes) {
        client.shutdownOutput();
      }
      assertThatExceptionOfType(Failure.class)
          .isThrownBy(() -> exchange(timeout).asServer(listening, List.of(OTHER), address -> {}))
          .withMessageContaining(message);
    }
  }

  @Test
  void serverReportsThatThePortIsInUse() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      assertThatExceptionOfType(Failure.class)
          .isThrownBy(() -> TcpPeer.listen(taken.getLocalPort()))
          .withMessageContaining("TCP port " + taken.getLocalPort())
          .withMessageContaining("-p");
    }
  }

  @Test
  void clientReportsThatTheServerClosed() throws Exception {
    assertThatClientFails(TEXT.substring(0, 20), "after 20 of 52 bytes");
  }

  @Test
  void clientReportsThatTheServerSentNoise() throws Exception {
    assertThatClientFails("\1".repeat(52), "the peer sent \"....");
  }

  private static void assertThatClientFails(String sent, String message) throws Exception {
    try (ServerSocket server = new ServerSocket(0)) {
      CompletableFuture<Void> client =
          CompletableFuture.runAsync(
              () ->
                  assertThatExceptionOfType(Failure.class)
                      .isThrownBy(
                          () ->
                              exchange(LONG)
                                  .asClient("localhost", server.getLocalPort(), List.of(ADDRESS))
                                  .get(0))
                      .withMessageContaining(message));
      try (Socket accepted = server.accept()) {
        assertThat(accepted.getInputStream().readNBytes(52)).isEqualTo(ascii(TEXT));
        accepted.getOutputStream().write(ascii(sent));
        accepted.shutdownOutput();
        client.get();
      }
    }
  }

  @Test
  void clientReportsThatThereIsNoServer() throws Exception {
    int port;
    try (ServerSocket closed = new ServerSocket(0)) {
      port = closed.getLocalPort();
    }
    assertThatExceptionOfType(Failure.class)
        .isThrownBy(() -> exchange(LONG).asClient("localhost", port, List.of(ADDRESS)))
        .withMessageContaining("no server listens at localhost port " + port);
  }

  @Test
  void clientReportsThatThereIsNoSuchHost() {
    assertThatExceptionOfType(Failure.class)
        .isThrownBy(() -> exchange(LONG).asClient("no.such.host.invalid", 1, List.of(ADDRESS)))
        .withMessageContaining("no host is named");
  }

  private static PingPongExchange exchange(Duration timeout) {
    return new PingPongExchange("ibv_rc_pingpong", timeout);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
