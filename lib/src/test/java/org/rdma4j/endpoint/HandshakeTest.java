package org.rdma4j.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Mtu;

/** The handshake over real sockets, without a device. */
@Timeout(60)
final class HandshakeTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final EndpointAddress CLIENT = EndpointAddressTest.SAMPLE;
  private static final EndpointAddress SERVER =
      new EndpointAddress(
          new QueuePairAddress(0, 0x11, 0, Gid.ZERO), Mtu.MTU_4096, 1, 0x1000, 5, 1);

  private Socket client;
  private Socket server;

  @BeforeEach
  void connect() throws IOException {
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      client = new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort());
      server = listening.accept();
    }
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    server.close();
  }

  @Test
  void bothSidesLearnOfEachOtherAndTheServerConnectsBeforeTheClientCanSend() throws Exception {
    List<String> order = new ArrayList<>();
    Future<EndpointAddress> asServer =
        start(
            () ->
                new Handshake(server, Deadline.after(LONG))
                    .asServer(
                        SERVER,
                        remote -> {
                          synchronized (order) {
                            order.add("server to " + remote.queuePair().queuePairNumber());
                          }
                        }));
    EndpointAddress seen =
        new Handshake(client, Deadline.after(LONG))
            .asClient(
                CLIENT,
                remote -> {
                  synchronized (order) {
                    order.add("client to " + remote.queuePair().queuePairNumber());
                  }
                });
    assertThat(seen).isEqualTo(SERVER);
    assertThat(asServer.get(30, TimeUnit.SECONDS)).isEqualTo(CLIENT);
    assertThat(order).containsExactly("server to 197637", "client to 17");
  }

  @Test
  void theServerIsNotDoneBeforeTheClientIsReady() throws Exception {
    CompletableFuture<Boolean> mayConnect = new CompletableFuture<>();
    Future<EndpointAddress> asServer =
        start(() -> new Handshake(server, Deadline.after(LONG)).asServer(SERVER, remote -> {}));
    Future<EndpointAddress> asClient =
        start(
            () ->
                new Handshake(client, Deadline.after(LONG))
                    .asClient(CLIENT, remote -> mayConnect.join()));
    Thread.sleep(200);
    assertThat(asServer.isDone()).isFalse();
    mayConnect.complete(true);
    assertThat(asServer.get(30, TimeUnit.SECONDS)).isEqualTo(CLIENT);
    asClient.get(30, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "rdma4j\n0123456789",
        "\33[2J\0\1234567890123"
      })
  void anotherProtocolIsReportedWithWhatItSent(String sent) throws IOException {
    send(sent.getBytes(StandardCharsets.ISO_8859_1));
    assertThatThrownBy(this::serve)
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("another protocol")
        .satisfies(failure -> assertThat(failure.getMessage()).matches("[ -~]*"));
  }

  @Test
  void anotherVersionIsReportedWithBothVersions() throws IOException {
    send(message("rdma4j\r\n", 2, 0, 1_000_000_000, new byte[0]));
    assertThatThrownBy(this::serve)
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("version 2")
        .hasMessageContaining("version 1");
  }

  @Test
  void aMessageOfTheWrongKindIsRefused() throws IOException {
    send(message("rdma4j\r\n", 1, 1, 0, new byte[0]));
    assertThatThrownBy(this::serve)
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("kind 1, must be ADDRESS");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, EndpointAddress.ENCODED_BYTES + 1, Integer.MAX_VALUE, -1})
  void aLengthIsCheckedBeforeItIsUsed(int length) throws IOException {
    send(message("rdma4j\r\n", 1, 0, length, new byte[0]));
    assertThatThrownBy(this::serve)
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("has " + Integer.toUnsignedString(length) + " bytes, must have");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 16, 40})
  void anEarlyEndIsReported(int bytes) throws IOException {
    byte[] address = message("rdma4j\r\n", 1, 0, CLIENT.encode().length, CLIENT.encode());
    client.getOutputStream().write(address, 0, bytes);
    client.shutdownOutput();
    assertThatThrownBy(this::serve)
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining(
            "closed the TCP connection after %d of %d bytes of its message ADDRESS"
                .formatted(
                    bytes < 16 ? bytes : bytes - 16,
                    bytes < 16 ? 16 : EndpointAddress.ENCODED_BYTES));
  }

  @Test
  void aClientThatDoesNotBecomeReadyIsReported() throws IOException {
    send(message("rdma4j\r\n", 1, 0, CLIENT.encode().length, CLIENT.encode()));
    client.shutdownOutput();
    assertThatThrownBy(this::serve)
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("after 0 of 16 bytes of its message READY");
  }

  @Test
  void aWaitForASilentPeerTimesOut() {
    assertThatThrownBy(
            () -> new Handshake(server, Deadline.after(SHORT)).asServer(SERVER, remote -> {}))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessageContaining("0 of 16 bytes")
        .hasMessageContaining("PT0.2S");
  }

  @Test
  void aWaitForAPeerThatSendsByteAfterByteTimesOutToo() throws Exception {
    Future<Boolean> trickle =
        start(
            () -> {
              byte[] address = message("rdma4j\r\n", 1, 0, CLIENT.encode().length, CLIENT.encode());
              for (int i = 0; i < 10; i++) {
                client.getOutputStream().write(address[i]);
                Thread.sleep(100);
              }
              return true;
            });
    assertThatThrownBy(
            () ->
                new Handshake(server, Deadline.after(Duration.ofMillis(500)))
                    .asServer(SERVER, remote -> {}))
        .isInstanceOf(SocketTimeoutException.class);
    assertThat(trickle.isDone()).isFalse();
    trickle.get(30, TimeUnit.SECONDS);
  }

  @Test
  void aClientReportsWhatAnotherProtocolSent() throws IOException {
    server
        .getOutputStream()
        .write("220 mail.example ESMTP\r\n".getBytes(StandardCharsets.US_ASCII));
    assertThatThrownBy(
            () -> new Handshake(client, Deadline.after(LONG)).asClient(CLIENT, remote -> {}))
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("220 mail.example");
  }

  @Test
  void aClientReportsAServerThatEndsEarly() throws IOException {
    server.close();
    assertThatThrownBy(
            () -> new Handshake(client, Deadline.after(LONG)).asClient(CLIENT, remote -> {}))
        .isInstanceOf(HandshakeException.class);
  }

  private void serve() throws IOException {
    new Handshake(server, Deadline.after(LONG)).asServer(SERVER, remote -> {});
  }

  private void send(byte[] bytes) throws IOException {
    client.getOutputStream().write(bytes);
  }

  private static byte[] message(String magic, int version, int kind, int length, byte[] content) {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    message.writeBytes(magic.getBytes(StandardCharsets.US_ASCII));
    message.writeBytes(
        ByteBuffer.allocate(8)
            .putShort((short) version)
            .putShort((short) kind)
            .putInt(length)
            .array());
    message.writeBytes(content);
    return message.toByteArray();
  }

  private static <T> Future<T> start(Callable<T> body) {
    FutureTask<T> task = new FutureTask<>(body);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }
}
