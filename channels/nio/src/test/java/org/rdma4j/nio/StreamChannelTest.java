package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.nio.ChannelPair.bytes;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Channels that are not in a selector. */
final class StreamChannelTest {
  @BothProviders
  void aClientConnectsBeforeTheServerAccepts(SelectorProvider provider) throws Exception {
    try (ServerSocketChannel listener = ChannelPair.listen(provider);
        SocketChannel client = provider.openSocketChannel()) {
      assertThat(client.getRemoteAddress()).isNull();
      assertThat(client.connect(listener.getLocalAddress())).isTrue();
      assertThat(client.isConnected()).isTrue();
      client.write(bytes("early"));
      try (SocketChannel server = listener.accept()) {
        assertThat(ChannelPair.read(server, 5)).isEqualTo("early");
        assertThat(server.getRemoteAddress()).isEqualTo(client.getLocalAddress());
        assertThat(server.getLocalAddress()).isEqualTo(client.getRemoteAddress());
        assertThat(server.isBlocking()).isTrue();
        assertThat(server.provider()).isSameAs(provider);
      }
    }
  }

  @BothProviders
  void aChannelThatCannotConnectIsClosed(SelectorProvider provider) throws Exception {
    SocketAddress unused;
    try (ServerSocketChannel listener = ChannelPair.listen(provider)) {
      unused = listener.getLocalAddress();
    }
    try (SocketChannel client = provider.openSocketChannel()) {
      assertThatThrownBy(() -> client.connect(unused))
          .isInstanceOf(ConnectException.class)
          .hasMessage("Connection refused");
      assertThat(client.isOpen()).isFalse();
    }
    try (SocketChannel client = provider.openSocketChannel()) {
      client.configureBlocking(false);
      ThrowingCallable finish =
          () -> {
            client.connect(unused);
            while (!client.finishConnect()) {
              Thread.onSpinWait();
            }
          };
      assertThatThrownBy(finish)
          .isInstanceOf(ConnectException.class)
          .hasMessage("Connection refused");
      assertThat(client.isOpen()).isFalse();
    }
  }

  @BothProviders
  void wrongCallsAreRefusedAsTheJdkDoes(SelectorProvider provider) throws Exception {
    try (SocketChannel channel = provider.openSocketChannel()) {
      assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1)))
          .isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1)))
          .isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(channel::shutdownInput).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(channel::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(channel::finishConnect).isInstanceOf(NoConnectionPendingException.class);
      assertThatThrownBy(() -> channel.connect(InetSocketAddress.createUnresolved("host", 1)))
          .isInstanceOf(UnresolvedAddressException.class);
      assertThatThrownBy(() -> channel.connect(new SocketAddress() {}))
          .isInstanceOf(UnsupportedAddressTypeException.class);
      assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1))
          .isInstanceOf(IllegalArgumentException.class);
      channel.bind(ChannelPair.anyPort());
      assertThatThrownBy(() -> channel.bind(ChannelPair.anyPort()))
          .isInstanceOf(AlreadyBoundException.class);
      assertThat(((InetSocketAddress) channel.getLocalAddress()).getPort()).isPositive();
    }
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      SocketAddress server = pair.client().getRemoteAddress();
      assertThatThrownBy(() -> pair.client().connect(server))
          .isInstanceOf(AlreadyConnectedException.class);
      assertThatThrownBy(() -> pair.client().read(ByteBuffer.allocate(1).asReadOnlyBuffer()))
          .isInstanceOf(IllegalArgumentException.class);
      pair.client().close();
      assertThatThrownBy(() -> pair.client().read(ByteBuffer.allocate(1)))
          .isInstanceOf(ClosedChannelException.class);
      assertThatThrownBy(() -> pair.client().write(ByteBuffer.allocate(1)))
          .isInstanceOf(ClosedChannelException.class);
      assertThatThrownBy(pair.client()::getLocalAddress).isInstanceOf(ClosedChannelException.class);
    }
  }

  @BothProviders
  void buffersAreScatteredAndGathered(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      ByteBuffer[] sources = {
        null,
        bytes("ab"),
        ByteBuffer.allocateDirect(3).put(bytes("cde")).flip(),
        bytes("").duplicate()
      };
      assertThat(pair.client().write(sources, 1, 3)).isEqualTo(5);
      ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocateDirect(4), null};
      long count = 0;
      while (count < 5) {
        count += pair.server().read(targets, 0, 2);
      }
      assertThat(targets[0].flip()).isEqualTo(bytes("a"));
      assertThat(targets[1].flip()).isEqualTo(bytes("bcde"));
    }
  }

  @BothProviders
  void oneSideEndsAndTheOtherGoesOn(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().write(bytes("last"));
      pair.client().shutdownOutput();
      assertThatThrownBy(() -> pair.client().write(bytes("more")))
          .isInstanceOf(ClosedChannelException.class);
      assertThat(ChannelPair.read(pair.server(), 100)).isEqualTo("last");
      assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
      assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
      pair.server().write(bytes("still there"));
      assertThat(ChannelPair.read(pair.client(), 11)).isEqualTo("still there");
      assertThat(pair.client().isOpen()).isTrue();
    }
  }

  @BothProviders
  void aReaderWakesWhenTheInputIsShutDown(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      var reader = waiting(() -> pair.client().read(ByteBuffer.allocate(1)));
      pair.client().shutdownInput();
      assertThat(reader.get()).isEqualTo(-1);
      assertThat(pair.client().isOpen()).isTrue();
    }
  }

  @BothProviders
  void aPeerThatLingersForNoTimeResets(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
      pair.client().close();
      assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1)))
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
    }
  }

  @BothProviders
  void aCloseEndsTheWaitsOfAllThreads(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      var reader = waiting(() -> pair.client().read(ByteBuffer.allocate(1)));
      var writer = waiting(() -> writeForever(pair.client()));
      pair.client().close();
      assertThatThrownBy(reader::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(AsynchronousCloseException.class);
      // Between two writes it does not wait.
      assertThatThrownBy(writer::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(ClosedChannelException.class);
    }
  }

  private static int writeForever(SocketChannel channel) throws IOException {
    ByteBuffer much = ByteBuffer.allocate(1 << 20);
    while (true) {
      channel.write(much.clear());
    }
  }

  @BothProviders
  void anInterruptClosesTheChannel(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      var reader = waiting(() -> pair.client().read(ByteBuffer.allocate(1)));
      reader.thread().interrupt();
      assertThatThrownBy(reader::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(ClosedByInterruptException.class);
      assertThat(pair.client().isOpen()).isFalse();
      assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
  }

  @BothProviders
  void aThreadThatIsInterruptedAlreadyClosesTheChannel(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> pair.client().read(ByteBuffer.allocate(1)))
          .isInstanceOf(ClosedByInterruptException.class);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(pair.client().isOpen()).isFalse();
    }
  }

  @BothProviders
  void aVirtualThreadReadsAndIsInterrupted(SelectorProvider provider) throws Exception {
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      var failure = new CompletableFuture<Throwable>();
      Thread reader =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      failure.completeExceptionally(
                          new AssertionError(pair.client().read(ByteBuffer.allocate(1))));
                    } catch (IOException thrown) {
                      failure.complete(thrown);
                    }
                  });
      Thread.sleep(50);
      reader.interrupt();
      assertThat(failure.get(ChannelPair.PATIENCE_SECONDS, TimeUnit.SECONDS))
          .isInstanceOf(ClosedByInterruptException.class);
    }
  }

  @BothProviders
  void anAcceptEndsWithTheCloseAndWithTheInterrupt(SelectorProvider provider) throws Exception {
    try (ServerSocketChannel listener = ChannelPair.listen(provider)) {
      var acceptor = waiting(listener::accept);
      listener.socket().close();
      assertThatThrownBy(acceptor::get).hasCauseInstanceOf(AsynchronousCloseException.class);
    }
    try (ServerSocketChannel listener = ChannelPair.listen(provider)) {
      var acceptor = waiting(listener::accept);
      acceptor.thread().interrupt();
      assertThatThrownBy(acceptor::get).hasCauseInstanceOf(ClosedByInterruptException.class);
      assertThat(listener.isOpen()).isFalse();
    }
  }

  @BothProviders
  void anAddressInUseIsRefused(SelectorProvider provider) throws Exception {
    try (ServerSocketChannel listener = ChannelPair.listen(provider);
        ServerSocketChannel other = provider.openServerSocketChannel()) {
      SocketAddress taken = listener.getLocalAddress();
      assertThatThrownBy(() -> other.bind(taken))
          .isInstanceOf(BindException.class)
          .hasMessageContaining("Address already in use");
      assertThatThrownBy(() -> listener.bind(ChannelPair.anyPort()))
          .isInstanceOf(AlreadyBoundException.class);
    }
  }

  @BothProviders
  void allOptionsOfTheJdkCanBeReadAndSet(SelectorProvider provider) throws Exception {
    try (SocketChannel channel = provider.openSocketChannel();
        SocketChannel known = JdkProvider.find().openSocketChannel()) {
      assertThat(channel.supportedOptions()).isEqualTo(known.supportedOptions());
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
      assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF)).isGreaterThan(4096);
    }
  }
}
