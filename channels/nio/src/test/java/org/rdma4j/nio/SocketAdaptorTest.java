package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.nio.ChannelPair.bytes;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** What {@code socket()} of a channel returns. */
final class SocketAdaptorTest {
  @BothProviders
  void socketsConnectAcceptAndCarryStreams(SelectorProvider provider) throws Exception {
    try (ServerSocketChannel listening = provider.openServerSocketChannel();
        ServerSocket listener = listening.socket();
        Socket client = provider.openSocketChannel().socket()) {
      listener.bind(ChannelPair.anyPort());
      assertThat(client.isConnected()).isFalse();
      client.connect(listener.getLocalSocketAddress(), 10_000);
      try (Socket server = listener.accept()) {
        OutputStream output = client.getOutputStream();
        output.write(new byte[] {1, 2, -3});
        InputStream input = server.getInputStream();
        assertThat(input.readNBytes(2)).containsExactly(1, 2);
        assertThat(input.available()).isEqualTo(1);
        assertThat(input.read()).isEqualTo(253);
        client.shutdownOutput();
        assertThat(client.isOutputShutdown()).isTrue();
        assertThat(input.read()).isEqualTo(-1);
        assertThat(server.getRemoteSocketAddress()).isEqualTo(client.getLocalSocketAddress());
        assertThat(server.getChannel().socket()).isSameAs(server);
        assertThat(server.getChannel().provider()).isSameAs(provider);
        server.getChannel().close();
        assertThat(server.isClosed()).isTrue();
        assertThat(server.getRemoteSocketAddress()).isNotNull();
      }
    }
  }

  @BothProviders
  void aReadEndsAtItsTimeout(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      Socket client = pair.client().socket();
      client.setSoTimeout(20);
      assertThatThrownBy(() -> client.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("Read timed out");
      pair.server().write(bytes("x"));
      client.setSoTimeout(10_000);
      assertThat(client.getInputStream().read()).isEqualTo('x');
    }
  }

  @BothProviders
  void anAcceptEndsAtItsTimeout(SelectorProvider provider) throws Exception {
    try (ServerSocketChannel listener = ChannelPair.listen(provider)) {
      listener.socket().setSoTimeout(20);
      assertThatThrownBy(listener.socket()::accept).isInstanceOf(SocketTimeoutException.class);
      assertThat(listener.isOpen()).isTrue();
    }
  }

  @BothProviders
  void aSocketThatCannotConnectIsClosed(SelectorProvider provider) throws Exception {
    SocketAddress unused;
    try (ServerSocketChannel listener = ChannelPair.listen(provider)) {
      unused = listener.getLocalAddress();
    }
    try (SocketChannel channel = provider.openSocketChannel()) {
      assertThatThrownBy(() -> channel.socket().connect(unused, 10_000))
          .isInstanceOf(ConnectException.class);
      assertThat(channel.isOpen()).isFalse();
    }
    try (SocketChannel channel = provider.openSocketChannel()) {
      assertThatThrownBy(
              () -> channel.socket().connect(InetSocketAddress.createUnresolved("nowhere", 1)))
          .isInstanceOf(java.net.UnknownHostException.class);
      assertThat(channel.isOpen()).isFalse();
    }
  }

  @BothProviders
  void streamsOfAChannelThatDoesNotBlockAreRefused(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      InputStream input = pair.client().socket().getInputStream();
      OutputStream output = pair.client().socket().getOutputStream();
      pair.client().configureBlocking(false);
      assertThatThrownBy(input::read).isInstanceOf(IllegalBlockingModeException.class);
      assertThatThrownBy(() -> output.write(1)).isInstanceOf(IllegalBlockingModeException.class);
    }
  }

  @BothProviders
  void aClosedSocketSaysSo(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      Socket client = pair.client().socket();
      client.close();
      assertThat(pair.client().isOpen()).isFalse();
      assertThatThrownBy(client::getInputStream)
          .isInstanceOf(SocketException.class)
          .hasMessage("Socket is closed");
      assertThatThrownBy(() -> client.setTcpNoDelay(true)).isInstanceOf(SocketException.class);
    }
  }
}
