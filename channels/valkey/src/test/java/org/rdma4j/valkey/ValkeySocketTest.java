package org.rdma4j.valkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.testing.DeviceAddress;

/** Sockets, as a client sees them, and a server that speaks the protocol over verbs. */
@Tag("device")
@Timeout(60)
final class ValkeySocketTest {
  private static final int BUFFER = 4096;

  private final ProtocolServer server = new ProtocolServer(BUFFER);

  @AfterEach
  void close() {
    server.close();
  }

  private ValkeySocket connect(int receiveBytes, int sendBytes) throws IOException {
    ValkeySocket socket = new ValkeySocket();
    socket.setReceiveBufferSize(receiveBytes);
    socket.setSendBufferSize(sendBytes);
    socket.setSoTimeout(20_000);
    socket.connect(server.address(), 20_000);
    return socket;
  }

  private ValkeySocket connect() throws IOException {
    return connect(BUFFER, BUFFER);
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  @ParameterizedTest
  @CsvSource({"4096,4096", "4099,5000", "65536,4096", "1048576,524288"})
  void bytesOfEachLengthAroundTheEdgesOfBuffersComeBackUnchanged(int receive, int send)
      throws Exception {
    int[] lengths = {1, 2, 255, 256, 257, 4095, 4096, 4097, 8191, 8192, 8193, 65_536, 100_001};
    long total = 0;
    for (int length : lengths) {
      total += length;
    }
    long all = 2 * total;
    FutureTask<Void> served = server.serve(peer -> peer.echo(all));
    try (ValkeySocket socket = connect(receive, send)) {
      InputStream input = socket.getInputStream();
      for (int round = 0; round < 2; round++) {
        for (int length : lengths) {
          byte[] bytes = random(length);
          FutureTask<Void> writing =
              ProtocolServer.start(
                  () -> {
                    socket.getOutputStream().write(bytes);
                    return null;
                  });
          assertThat(input.readNBytes(length)).as("%d bytes", length).isEqualTo(bytes);
          ProtocolServer.get(writing);
        }
      }
      ProtocolServer.get(served);
    }
  }

  @Test
  void singleBytesFillTheBufferExactly() throws Exception {
    FutureTask<Void> served = server.serve(peer -> peer.echo(2 * BUFFER + 1));
    try (ValkeySocket socket = connect()) {
      byte[] bytes = random(2 * BUFFER + 1);
      for (byte each : bytes) {
        socket.getOutputStream().write(each);
        assertThat((byte) socket.getInputStream().read()).isEqualTo(each);
      }
      ProtocolServer.get(served);
    }
  }

  @Test
  void theEndComesAfterTheBytesBeforeIt() throws Exception {
    byte[] bytes = random(BUFFER);
    FutureTask<Void> served = server.serve(peer -> peer.write(bytes, BUFFER));
    try (ValkeySocket socket = connect()) {
      ProtocolServer.get(served);
      InputStream input = socket.getInputStream();
      assertThat(input.readNBytes(BUFFER)).isEqualTo(bytes);
      assertThatThrownBy(input::read)
          .isInstanceOf(SocketException.class)
          .hasMessageContaining("%s: the server closed the connection", server.address());
    }
  }

  @Test
  void aReadThatTimesOutCanBeRepeated() throws Exception {
    AtomicBoolean late = new AtomicBoolean();
    FutureTask<Void> served =
        server.serve(
            peer -> {
              peer.await(late::get);
              peer.write(new byte[] {42}, 1);
              peer.await(() -> !late.get());
            });
    try (ValkeySocket socket = connect()) {
      socket.setSoTimeout(100);
      InputStream input = socket.getInputStream();
      assertThatThrownBy(input::read)
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageContaining("no bytes from");
      socket.setSoTimeout(20_000);
      late.set(true);
      assertThat(input.read()).isEqualTo(42);
      assertThat(input.available()).isZero();
      late.set(false);
      ProtocolServer.get(served);
    }
  }

  @Test
  void aWriteThatTimesOutEndsTheConnection() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    // It never names its buffer anew.
    FutureTask<Void> served = server.serve(peer -> peer.await(done::get));
    try (ValkeySocket socket = connect()) {
      socket.setSoTimeout(200);
      OutputStream output = socket.getOutputStream();
      output.write(new byte[BUFFER]);
      assertThatThrownBy(() -> output.write(1))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageContaining("no space in the buffer of");
      assertThatThrownBy(() -> output.write(1))
          .isInstanceOf(SocketException.class)
          .hasMessageContaining("no space in the buffer of");
      done.set(true);
    }
    assertThat(served).isNotNull();
  }

  @Test
  void aPortWithoutListener() throws Exception {
    server.close();
    InetSocketAddress none = new InetSocketAddress(DeviceAddress.ipv4(), 1);
    try (ValkeySocket socket = new ValkeySocket()) {
      assertThatThrownBy(() -> socket.connect(none, 5000))
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("rdma-port");
    }
  }

  @Test
  void aCloseEndsAReadInAnotherThread() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    FutureTask<Void> served = server.serve(peer -> peer.await(done::get));
    InputStream input;
    FutureTask<Integer> reading;
    try (ValkeySocket socket = connect()) {
      socket.setSoTimeout(0);
      input = socket.getInputStream();
      reading = ProtocolServer.start(input::read);
      Thread.sleep(200);
    }
    assertThatThrownBy(() -> ProtocolServer.get(reading))
        .hasRootCauseInstanceOf(SocketException.class)
        .hasMessageContaining("Socket closed");
    assertThatThrownBy(input::read).isInstanceOf(SocketException.class);
    done.set(true);
    assertThat(served).isNotNull();
  }

  @Test
  void whatWasWrittenBeforeACloseArrives() throws Exception {
    byte[] bytes = random(BUFFER - 1);
    FutureTask<Void> served =
        server.serve(
            peer -> {
              Thread.sleep(100);
              peer.await(() -> peer.announced == bytes.length);
              byte[] read = new byte[bytes.length];
              assertThat(peer.read(read)).isEqualTo(bytes.length);
              assertThat(read).isEqualTo(bytes);
            });
    try (ValkeySocket socket = connect()) {
      socket.getOutputStream().write(bytes);
    }
    ProtocolServer.get(served);
  }

  @Test
  void anInterruptDoesNotEndARead() throws Exception {
    FutureTask<Void> served = server.serve(peer -> peer.echo(1));
    try (ValkeySocket socket = connect()) {
      Thread.currentThread().interrupt();
      socket.getOutputStream().write(7);
      assertThat(socket.getInputStream().read()).isEqualTo(7);
      assertThat(Thread.interrupted()).isTrue();
    }
    ProtocolServer.get(served);
  }

  @Test
  void anIdleConnectionHandlesKeepalivesAndSendsSome() throws Exception {
    FutureTask<Void> served =
        server.serve(
            peer -> {
              // More than the client has receives for, and than it sees when a program reads.
              for (int i = 0; i < 3000; i++) {
                peer.control(ControlMessage.KEEPALIVE);
              }
              peer.awaitControl(ControlMessage.KEEPALIVE);
              peer.write(new byte[] {9}, 1);
              peer.await(() -> peer.announced == 1);
            });
    try (ValkeySocket socket = connect()) {
      while (socket.getInputStream().available() == 0) {
        assertThat(served.isDone()).isFalse();
        Thread.sleep(100);
      }
      assertThat(socket.getInputStream().read()).isEqualTo(9);
      socket.getOutputStream().write(1);
      ProtocolServer.get(served);
    }
  }

  @Test
  void aSocketThatIsDroppedIsClosed() throws Exception {
    FutureTask<Void> served =
        server.serve(
            peer -> assertThat(peer.id.awaitDisconnected(ProtocolServer.PATIENCE)).isTrue());
    drop();
    while (!served.isDone()) {
      System.gc();
      Thread.sleep(100);
    }
    ProtocolServer.get(served);
  }

  @SuppressWarnings("resource") // It is to be dropped.
  private void drop() throws IOException {
    connect();
  }

  @Test
  void closedSocketsLeaveNothing() throws Exception {
    openAndClose(); // loads what is loaded once
    int descriptors = descriptors();
    for (int i = 0; i < 20; i++) {
      openAndClose();
    }
    assertThat(descriptors()).isEqualTo(descriptors);
    long deadline = System.nanoTime() + ProtocolServer.PATIENCE.toNanos();
    while (hasThread() && System.nanoTime() - deadline < 0) {
      Thread.sleep(10);
    }
    assertThat(hasThread()).isFalse();
  }

  private void openAndClose() throws Exception {
    FutureTask<Void> served = server.serve(peer -> peer.echo(10));
    try (ValkeySocket socket = connect()) {
      socket.getOutputStream().write(new byte[10]);
      assertThat(socket.getInputStream().readNBytes(10)).containsOnly(0);
    }
    ProtocolServer.get(served);
  }

  private static boolean hasThread() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("rdma4j-valkey"));
  }

  private static int descriptors() throws IOException {
    try (var open = Files.list(Path.of("/proc/self/fd"))) {
      return (int) open.count();
    }
  }
}
