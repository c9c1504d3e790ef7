package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.TcpPeer;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Mtu;

@Timeout(30)
class HandshakeTest {
  private static final String PROGRAM = "ib_write_bw";
  private static final Duration LONG = Duration.ofSeconds(20);

  @Test
  void bothSidesUseTheSmallerMtu() throws Exception {
    try (ServerSocket listening = TcpPeer.listen(0)) {
      CompletableFuture<Handshake.Terms> client =
          CompletableFuture.supplyAsync(
              () -> {
                try (Control control = client(listening.getLocalPort())) {
                  return new Handshake(control, PROGRAM).agree(Mtu.MTU_4096);
                }
              });
      try (Control control = server(listening)) {
        Handshake.Terms terms = new Handshake(control, PROGRAM).agree(Mtu.MTU_1024);
        assertThat(terms.mtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(terms.warning()).isEmpty();
        assertThat(client.get()).isEqualTo(terms);
      }
    }
  }

  @Test
  void messagesHaveTheFormatOfC() throws Exception {
    try (ServerSocket listening = TcpPeer.listen(0);
        Socket client = connect(listening)) {
      client.getOutputStream().write(padded("6.06"));
      client.getOutputStream().write(integer(1 << 20));
      client.getOutputStream().write(integer(128));
      client.getOutputStream().write("3\0".getBytes(StandardCharsets.US_ASCII));
      try (Control control = server(listening)) {
        Handshake.Terms terms = new Handshake(control, PROGRAM).agree(Mtu.MTU_4096);
        assertThat(terms).isEqualTo(new Handshake.Terms("6.06", 1 << 20, 128, Mtu.MTU_1024));
      }
      byte[] answer = client.getInputStream().readNBytes(16 + 4 + 4 + 2);
      assertThat(Arrays.copyOf(answer, 16)).isEqualTo(padded("6.06"));
      assertThat(Arrays.copyOfRange(answer, 24, 26))
          .isEqualTo("5\0".getBytes(StandardCharsets.US_ASCII));
    }
  }

  @Test
  void anotherVersionIsNamedInOneLine() throws Exception {
    try (ServerSocket listening = TcpPeer.listen(0);
        Socket client = connect(listening)) {
      client.getOutputStream().write(padded("6.17"));
      client.getOutputStream().write(integer(4096));
      client.getOutputStream().write(integer(64));
      client.getOutputStream().write("3\0".getBytes(StandardCharsets.US_ASCII));
      try (Control control = server(listening)) {
        assertThat(new Handshake(control, PROGRAM).agree(Mtu.MTU_4096).warning())
            .hasValueSatisfying(line -> assertThat(line).contains("6.17").contains("6.06"));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "5.69, 'is perftest 5.69, this program does what perftest 6.06 does'",
    "0000:000011:0000, 'sent \"0000:000011:0000\" instead of its version'",
  })
  void unusableVersionIsRefused(String version, String message) throws Exception {
    try (ServerSocket listening = TcpPeer.listen(0);
        Socket client = connect(listening)) {
      client.getOutputStream().write(padded(version));
      try (Control control = server(listening)) {
        assertThatExceptionOfType(Failure.class)
            .isThrownBy(() -> new Handshake(control, PROGRAM).agree(Mtu.MTU_4096))
            .withMessageContaining(message);
      }
    }
  }

  @Test
  void reportsAreExchanged() throws Exception {
    Bandwidth.Report mine = new Bandwidth.Report(64, 1000, 3.5, 2.25, 0.125);
    Bandwidth.Report other = new Bandwidth.Report(64, 2000, 0, 4.5, 0.25);
    try (ServerSocket listening = TcpPeer.listen(0)) {
      CompletableFuture<Bandwidth.Report> client =
          CompletableFuture.supplyAsync(
              () -> {
                try (Control control = client(listening.getLocalPort())) {
                  return new Handshake(control, PROGRAM).exchange(mine, false);
                }
              });
      try (Control control = server(listening)) {
        assertThat(new Handshake(control, PROGRAM).exchange(other, false)).isEqualTo(mine);
        assertThat(client.get()).isEqualTo(other);
      }
    }
  }

  @Test
  void peerWithoutGidIsReported() throws Exception {
    Keys keys = new Keys(new QueuePairAddress(3, 4, 5, Gid.ZERO), 1, 2, 6);
    try (ServerSocket listening = TcpPeer.listen(0);
        Socket client = connect(listening)) {
      client.getOutputStream().write(keys.toText(false));
      try (Control control = server(listening)) {
        assertThatExceptionOfType(Failure.class)
            .isThrownBy(() -> control.exchange(keys, false))
            .withMessageContaining("the peer uses no GID, this side does");
      }
    }
  }

  private static Socket connect(ServerSocket listening) throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort());
  }

  private static Control server(ServerSocket listening) {
    return new TcpControl(TcpPeer.accept(listening, PROGRAM, LONG), true, PROGRAM, LONG);
  }

  private static Control client(int port) {
    return new TcpControl(TcpPeer.connect("localhost", port, PROGRAM, LONG), false, PROGRAM, LONG);
  }

  private static byte[] padded(String version) {
    return Arrays.copyOf(version.getBytes(StandardCharsets.US_ASCII), 16);
  }

  private static byte[] integer(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }
}
