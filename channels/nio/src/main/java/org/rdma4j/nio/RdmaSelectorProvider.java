package org.rdma4j.nio;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/**
 * Creates the selectors and the channels of a program. A program that was started with {@code
 * -Djava.nio.channels.spi.SelectorProvider=org.rdma4j.nio.RdmaSelectorProvider} uses them without a
 * change, wherever it calls {@code open} of {@link SocketChannel}, {@link ServerSocketChannel} or
 * {@link java.nio.channels.Selector}.
 *
 * <p>Each channel holds a channel of the JDK, which connects, accepts, and has the options and the
 * addresses. Once both sides of a connection have sent something, it goes on over RDMA, if the peer
 * has this provider, too, and an RDMA device reaches it; otherwise it stays on TCP. The program
 * does not wait for that. The guide, in {@code docs/guide/channels.md}, has the settings.
 *
 * <p>Pipes, datagram channels and channels of Unix domain sockets are the JDK's own; selectors take
 * these too.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
  private final SelectorProvider jdk = JdkProvider.find();
  private final Rendezvous rendezvous;

  /**
   * Creates the provider, which the JDK does at the first use of a selector or channel.
   *
   * @throws IllegalStateException if the provider of this JDK cannot be reached; the message says
   *     which option of Java is missing
   * @throws IllegalArgumentException if a system property that begins with {@code org.rdma4j.nio.}
   *     has a wrong value
   */
  public RdmaSelectorProvider() {
    this(ChannelSettings.read(System::getProperty));
  }

  RdmaSelectorProvider(ChannelSettings settings) {
    this.rendezvous = new Rendezvous(settings);
  }

  Rendezvous rendezvous() {
    return rendezvous;
  }

  /**
   * Returns how many channels were upgraded to RDMA, and how many bytes used it. A program that was
   * started with this provider gets it from {@link SelectorProvider#provider}.
   *
   * @return the numbers of all channels of this provider
   */
  public ChannelStatistics statistics() {
    return rendezvous.statistics();
  }

  @Override
  public DatagramChannel openDatagramChannel() throws IOException {
    return jdk.openDatagramChannel();
  }

  @Override
  public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
    return jdk.openDatagramChannel(family);
  }

  @Override
  public Pipe openPipe() throws IOException {
    return jdk.openPipe();
  }

  @Override
  public AbstractSelector openSelector() throws IOException {
    return new ReadySelector(this, jdk.openSelector(), rendezvous::pollUntil);
  }

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return new ListenerChannel(this, jdk.openServerSocketChannel());
  }

  @Override
  public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
    ServerSocketChannel channel = jdk.openServerSocketChannel(family);
    return family == StandardProtocolFamily.UNIX ? channel : new ListenerChannel(this, channel);
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return new StreamChannel(this, jdk.openSocketChannel());
  }

  @Override
  public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
    SocketChannel channel = jdk.openSocketChannel(family);
    return family == StandardProtocolFamily.UNIX ? channel : new StreamChannel(this, channel);
  }

  /** Returns the channel that this process was started with, which is the JDK's. */
  @Override
  public @Nullable Channel inheritedChannel() throws IOException {
    return jdk.inheritedChannel();
  }
}
