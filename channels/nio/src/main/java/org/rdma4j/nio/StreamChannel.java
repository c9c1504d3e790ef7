package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A stream of bytes in each direction: over a channel of the JDK, and after an {@link Upgrade} over
 * RDMA.
 *
 * <p>The channel of the JDK closes itself if a thread that it blocks is interrupted, or if it
 * cannot connect. Each call that can end in this way then closes this channel, too.
 */
final class StreamChannel extends SocketChannel implements OverTcp, TcpEnd {
  private final RdmaSelectorProvider provider;
  private final SocketChannel tcp;
  private final CopyOnWriteArrayList<ReadyKey> watchers = new CopyOnWriteArrayList<>();
  private final StreamSocket socket;
  private final ChannelInput input;
  private final ChannelOutput output;

  private final AtomicReference<@Nullable Upgrade> upgrade = new AtomicReference<>();
  private volatile @Nullable InetSocketAddress remote;

  /** What an operator may know of it; null until it has connected. */
  private volatile @Nullable ChannelRecord record;

  StreamChannel(RdmaSelectorProvider provider, SocketChannel tcp) throws IOException {
    super(provider);
    this.provider = provider;
    this.tcp = tcp;
    this.socket = new StreamSocket(this, tcp.socket());
    this.input = new ChannelInput(this);
    this.output = new ChannelOutput(this);
  }

  /**
   * Creates a channel that was accepted.
   *
   * @param upgrades whether the listener listens over RDMA, too
   */
  static StreamChannel accepted(RdmaSelectorProvider provider, SocketChannel tcp, boolean upgrades)
      throws IOException {
    StreamChannel channel = new StreamChannel(provider, tcp);
    if (tcp.getRemoteAddress() instanceof InetSocketAddress client
        && tcp.getLocalAddress() instanceof InetSocketAddress server) {
      channel.remote = client;
      ChannelRegister register = provider.rendezvous().register();
      ChannelRecord added = register.add(client, server, false);
      channel.record = added;
      if (upgrades) {
        channel.upgrade.set(provider.rendezvous().accepted(channel, client, server));
      } else {
        register.stays(added, StayReason.UNAVAILABLE, "the server listens over TCP only");
      }
    }
    return channel;
  }

  @Override
  public SocketChannel tcp() {
    return tcp;
  }

  @Override
  public CopyOnWriteArrayList<ReadyKey> watchers() {
    return watchers;
  }

  /** The channel must be one with an upgrade. */
  @Override
  public InetSocketAddress remote() {
    return Objects.requireNonNull(remote, "remote");
  }

  @Override
  public ChannelRecord record() {
    return Objects.requireNonNull(record, "record");
  }

  private long received(long bytes) {
    ChannelRecord known = record;
    if (known != null && bytes > 0) {
      known.receivedOverTcp(bytes);
    }
    return bytes;
  }

  private long sent(long bytes) {
    ChannelRecord known = record;
    if (known != null) {
      known.sentOverTcp(bytes);
    }
    return bytes;
  }

  @Override
  public ChannelInput input() {
    return input;
  }

  @Override
  public ChannelOutput output() {
    return output;
  }

  /** Closes the channel if the calling thread is interrupted, and throws what the JDK throws. */
  private void checkNotInterrupted() throws AsynchronousCloseException {
    if (isBlocking() && isOpen() && Thread.currentThread().isInterrupted()) {
      try {
        begin();
      } finally {
        end(false);
      }
    }
  }

  private void closeIfTcpIs() throws IOException {
    if (!tcp.isOpen()) {
      close();
    }
  }

  // ---- Connecting

  @Override
  public SocketChannel bind(@Nullable SocketAddress local) throws IOException {
    tcp.bind(local);
    return this;
  }

  @Override
  public boolean connect(SocketAddress address) throws IOException {
    try {
      return connected(tcp.connect(address));
    } finally {
      closeIfTcpIs();
    }
  }

  /** Connects for a socket, within a time in milliseconds; 0 is without a limit. */
  void connect(SocketAddress address, int timeout) throws IOException {
    try {
      tcp.socket().connect(address, timeout);
      connected(true);
    } finally {
      closeIfTcpIs();
    }
  }

  @Override
  public boolean finishConnect() throws IOException {
    try {
      return connected(tcp.finishConnect());
    } finally {
      closeIfTcpIs();
    }
  }

  private boolean connected(boolean done) throws IOException {
    if (done
        && remote == null
        && !socket.isUrgentInline()
        && tcp.getRemoteAddress() instanceof InetSocketAddress server
        && tcp.getLocalAddress() instanceof InetSocketAddress client) {
      remote = server;
      record = provider.rendezvous().register().add(client, server, true);
      upgrade.set(provider.rendezvous().connected(this, client, server));
    }
    return done;
  }

  @Override
  public boolean isConnected() {
    return tcp.isConnected();
  }

  @Override
  public boolean isConnectionPending() {
    return tcp.isConnectionPending();
  }

  // ---- Reading and writing

  @Override
  public int read(ByteBuffer target) throws IOException {
    Upgrade way = upgrade.get();
    if (way != null) {
      checkNotInterrupted();
      return input.read(way, target, null, 0);
    }
    return (int) received(readTcp(target));
  }

  @Override
  public int readTcp(ByteBuffer target) throws IOException {
    try {
      return tcp.read(target);
    } finally {
      closeIfTcpIs();
    }
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
    Upgrade way = upgrade.get();
    if (way != null) {
      checkNotInterrupted();
      return input.read(way, targets, offset, length);
    }
    try {
      return received(tcp.read(targets, offset, length));
    } finally {
      closeIfTcpIs();
    }
  }

  /** Reads for a socket, within its timeout. */
  int read(InputStream stream, byte[] target, int offset, int length) throws IOException {
    Upgrade way = upgrade.get();
    if (way != null) {
      if (!isBlocking()) {
        throw new IllegalBlockingModeException();
      }
      checkNotInterrupted();
      ByteBuffer bytes = ByteBuffer.wrap(target, offset, length);
      return input.read(way, bytes, stream, socket.getSoTimeout());
    }
    try {
      return (int) received(stream.read(target, offset, length));
    } finally {
      closeIfTcpIs();
    }
  }

  /** Returns how many bytes a socket can read without waiting. */
  int available(InputStream stream) throws IOException {
    Upgrade way = upgrade.get();
    if (way != null && input.isShut()) {
      return 0;
    }
    if (way != null && way.input().isMoved()) {
      return way.stream().available();
    }
    return stream.available() + (way == null ? 0 : way.input().ahead());
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    Upgrade way = upgrade.get();
    if (way != null) {
      checkNotInterrupted();
      return output.write(way, source);
    }
    try {
      return (int) sent(tcp.write(source));
    } finally {
      closeIfTcpIs();
    }
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
    Upgrade way = upgrade.get();
    if (way != null) {
      checkNotInterrupted();
      return output.write(way, sources, offset, length);
    }
    return sent(writeTcp(sources, offset, length));
  }

  @Override
  public long writeTcp(ByteBuffer[] sources, int offset, int length) throws IOException {
    try {
      return tcp.write(sources, offset, length);
    } finally {
      closeIfTcpIs();
    }
  }

  /** Closes the channel if the thread is interrupted meanwhile. */
  @Override
  public void await(Awaiting wait) throws IOException {
    try {
      while (!wait.isOver()) {
        wait.step();
      }
    } finally {
      if (wait.hasSlept()) {
        end(isOpen());
      }
    }
    if (!isOpen()) {
      throw new AsynchronousCloseException();
    }
  }

  /** From now on, an interrupt closes the channel. A thread that only polls is soon done. */
  @Override
  public void beginSleep() {
    begin();
  }

  // ---- Calls of the upgrade

  @Override
  public void inputMoved() {
    watchers.forEach(ReadyKey::moved);
  }

  @Override
  public void endTcpInput() {
    input.tcpEnds();
    try {
      tcp.shutdownInput();
    } catch (IOException closed) {
      provider.rendezvous().log(toString(), "was closed when its input ended: " + closed);
    }
  }

  @Override
  public void endTcpOutput() throws IOException {
    tcp.shutdownOutput();
  }

  @Override
  public void closeTcp(boolean resets) {
    try {
      if (resets) {
        tcp.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      tcp.close();
    } catch (IOException failed) {
      provider.rendezvous().log(toString(), "cannot be closed: " + failed);
    }
  }

  @Override
  public AtomicReference<@Nullable Upgrade> upgrade() {
    return upgrade;
  }

  @Override
  public boolean mayResume() {
    return tcp.isOpen() && !input.hasTcpEnded();
  }

  @Override
  public void ready(int operations) {
    for (ReadyKey key : watchers) {
      key.changed(operations);
    }
  }

  @Override
  public void changed() {
    watchers.forEach(ReadyKey::moved);
    input.wake();
    output.wake();
  }

  @Override
  public void forget(Upgrade way) {
    provider.rendezvous().forget(way);
    upgrade.compareAndSet(way, null);
    changed();
  }

  @Override
  public boolean isOverRdma() {
    Upgrade way = upgrade.get();
    return way != null && (way.input().isMoved() || way.output().isMoved());
  }

  /** Returns whether the channel has an upgrade, which must see all that is read and written. */
  boolean hasUpgrade() {
    return upgrade.get() != null;
  }

  /** Stays on TCP and returns true, unless it is too late for that. */
  boolean staysWithTcp() {
    Upgrade way = upgrade.get();
    return way == null || way.stay();
  }

  /** Returns the operations for which TCP decides whether the channel is ready. */
  @Override
  public int tcpOperations() {
    Upgrade way = upgrade.get();
    if (way == null) {
      return validOps();
    }
    int operations = SelectionKey.OP_CONNECT;
    if (!way.output().isMoved()) {
      operations |= SelectionKey.OP_WRITE;
    }
    return switch (way.input().source()) {
      case TCP -> operations | SelectionKey.OP_READ;
      default -> operations;
    };
  }

  /** Returns the operations that the channel is ready for, apart from those of TCP. */
  @Override
  public int readyOperations() {
    Upgrade way = upgrade.get();
    if (way == null) {
      return 0;
    }
    boolean readable = way.input().isReady() || input.isShut();
    boolean writable = way.output().isMoved() && (way.output().isReady() || output.isShut());
    return (readable ? SelectionKey.OP_READ : 0) | (writable ? SelectionKey.OP_WRITE : 0);
  }

  // ---- The end

  @Override
  public SocketChannel shutdownInput() throws IOException {
    shutInput(openTcp()::shutdownInput);
    return this;
  }

  private void shutInput(Shutdown shutdown) throws IOException {
    input.shutDown(upgrade.get(), shutdown);
    changed();
  }

  /** Shuts down the input for a socket. */
  void shutdownInput(Socket tcpSocket) throws IOException {
    if (!isOpen()) {
      throw new SocketException("Socket is closed");
    }
    shutInput(tcpSocket::shutdownInput);
  }

  /** Shuts down the output for a socket. */
  void shutdownOutput(Socket tcpSocket) throws IOException {
    if (!isOpen()) {
      throw new SocketException("Socket is closed");
    }
    shutOutput(tcpSocket::shutdownOutput);
  }

  @Override
  public SocketChannel shutdownOutput() throws IOException {
    shutOutput(openTcp()::shutdownOutput);
    return this;
  }

  private void shutOutput(Shutdown shutdown) throws IOException {
    output.shutDown(upgrade.get(), shutdown);
    changed();
  }

  /** Returns whether the program reads from RDMA. */
  boolean isInputMoved() {
    Upgrade way = upgrade.get();
    return way != null && way.input().isMoved() && isOpen() && !input.isShut();
  }

  boolean isInputShut() {
    return input.isShut();
  }

  boolean isOutputShut() {
    return output.isShut();
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    Upgrade way = upgrade.get();
    int linger = way == null ? -1 : lingerSeconds(way);
    ChannelRecord known = record;
    if (known != null) {
      known.closed();
    }
    if (way == null || !way.close().delaysTcp(linger)) {
      tcp.close();
    }
    input.wake();
    output.wake();
    if (way != null) {
      way.close().within(linger);
    }
  }

  /** Returns the value of SO_LINGER. A peer that may not know of a reset gets one over TCP. */
  private int lingerSeconds(Upgrade way) throws IOException {
    if (!tcp.isOpen()) {
      return -1;
    }
    if (way.isReset() || way.hasUnreadAfterResume()) {
      tcp.setOption(StandardSocketOptions.SO_LINGER, 0);
    }
    return tcp.getOption(StandardSocketOptions.SO_LINGER);
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    tcp.configureBlocking(block);
  }

  // ---- Addresses and options

  /** Returns the channel of the JDK, which may be open for a while after this one is closed. */
  private SocketChannel openTcp() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    return tcp;
  }

  @Override
  public @Nullable SocketAddress getLocalAddress() throws IOException {
    return openTcp().getLocalAddress();
  }

  @Override
  public @Nullable SocketAddress getRemoteAddress() throws IOException {
    return openTcp().getRemoteAddress();
  }

  @Override
  public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
    openTcp().setOption(name, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> name) throws IOException {
    return openTcp().getOption(name);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return tcp.supportedOptions();
  }

  @Override
  public Socket socket() {
    return socket;
  }

  @Override
  public String toString() {
    return tcp.toString();
  }
}
