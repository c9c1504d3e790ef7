package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a socket that may be upgraded to RDMA. What it throws is what the JDK's sockets
 * throw.
 *
 * <p>It does not know the {@link PlainSocket}, so that a socket which the program has dropped can
 * be found.
 */
final class PlainStream implements TcpEnd {
  private final Rendezvous rendezvous;
  private final PlatformSocket socket;
  private final InputStream tcpInput;
  private final OutputStream tcpOutput;
  private final InetSocketAddress remote;
  private final ChannelRecord record;
  private final ChannelInput input;
  private final ChannelOutput output;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicReference<@Nullable Upgrade> upgrade = new AtomicReference<>();
  private volatile boolean ended;

  private PlainStream(Rendezvous rendezvous, PlatformSocket socket, boolean isClient)
      throws IOException {
    this.rendezvous = rendezvous;
    this.socket = socket;
    this.tcpInput = socket.input();
    this.tcpOutput = socket.output();
    this.remote = socket.remote();
    this.record =
        isClient
            ? rendezvous.register().add(socket.local(), remote, true)
            : rendezvous.register().add(remote, socket.local(), false);
    this.input = new ChannelInput(this);
    this.output = new ChannelOutput(this);
  }

  /** Returns the stream of a socket that has connected; null if it stays on TCP. */
  static @Nullable PlainStream connected(Rendezvous rendezvous, PlatformSocket socket)
      throws IOException {
    PlainStream stream = new PlainStream(rendezvous, socket, true);
    stream.upgrade.set(rendezvous.connected(stream, socket.local(), stream.remote));
    return stream.orNull();
  }

  /** Returns the stream of a socket that was accepted; null if it stays on TCP. */
  static @Nullable PlainStream accepted(Rendezvous rendezvous, PlatformSocket socket)
      throws IOException {
    PlainStream stream = new PlainStream(rendezvous, socket, false);
    stream.upgrade.set(rendezvous.accepted(stream, stream.remote, socket.local()));
    return stream.orNull();
  }

  /** A socket that cannot be upgraded is the JDK's from now on, and not listed. */
  private @Nullable PlainStream orNull() {
    if (upgrade.get() == null) {
      record.closed();
      return null;
    }
    return this;
  }

  @Override
  public ChannelRecord record() {
    return record;
  }

  @Override
  public InetSocketAddress remote() {
    return remote;
  }

  @Override
  public boolean isOpen() {
    return !closed.get();
  }

  @Override
  public boolean isBlocking() {
    return true;
  }

  @Override
  public ChannelInput input() {
    return input;
  }

  @Override
  public ChannelOutput output() {
    return output;
  }

  // ---- Reading and writing

  int read(byte[] target, int offset, int length, int timeout) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    Upgrade way = upgrade.get();
    if (way == null) {
      int count = tcpInput.read(target, offset, length);
      record.receivedOverTcp(Math.max(count, 0));
      return count;
    }
    if (length == 0) {
      return 0;
    }
    if (ended) {
      return -1;
    }
    try {
      int count = input.read(way, ByteBuffer.wrap(target, offset, length), null, timeout);
      ended = count < 0;
      return count;
    } catch (ClosedChannelException closedMeanwhile) {
      throw new SocketException("Socket closed", closedMeanwhile);
    }
  }

  int available() throws IOException {
    if (!isOpen()) {
      throw new SocketException("Socket closed");
    }
    Upgrade way = upgrade.get();
    if (way != null && input.isShut()) {
      return 0;
    }
    if (way == null || !way.input().isMoved()) {
      return socket.available() + (way == null ? 0 : way.input().ahead());
    }
    return way.stream().available();
  }

  void write(byte[] source, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, source.length);
    Upgrade way = upgrade.get();
    if (way == null || length == 0) {
      tcpOutput.write(source, offset, length);
      record.sentOverTcp(length);
      return;
    }
    try {
      output.write(way, ByteBuffer.wrap(source, offset, length));
    } catch (SocketException | InterruptedIOException known) {
      throw known;
    } catch (ClosedChannelException closedOrShut) {
      throw new SocketException(isOpen() ? "Broken pipe" : "Socket closed", closedOrShut);
    } catch (IOException failed) {
      throw new SocketException(failed.getMessage(), failed);
    }
  }

  @Override
  public int readTcp(ByteBuffer target) throws IOException {
    int at = target.arrayOffset() + target.position();
    int count = tcpInput.read(target.array(), at, target.remaining());
    target.position(target.position() + Math.max(count, 0));
    return count;
  }

  @Override
  public long writeTcp(ByteBuffer[] sources, int offset, int length) throws IOException {
    long count = 0;
    for (int i = offset; i < offset + length; i++) {
      ByteBuffer source = sources[i];
      int bytes = source.remaining();
      boolean done = false;
      try {
        tcpOutput.write(source.array(), source.arrayOffset() + source.position(), bytes);
        done = true;
      } finally {
        if (!done) {
          output.lost();
        }
      }
      source.position(source.limit());
      count += bytes;
    }
    return count;
  }

  /** An interrupt ends the wait of a virtual thread only: {@link java.net.Socket} closes then. */
  @Override
  public void await(Awaiting wait) throws IOException {
    Thread thread = Thread.currentThread();
    boolean interrupted = false;
    try {
      while (!wait.isOver()) {
        if (thread.isVirtual() && thread.isInterrupted()) {
          throw new InterruptedIOException();
        }
        // A thread that is interrupted cannot park.
        interrupted |= Thread.interrupted();
        wait.step();
      }
    } finally {
      if (interrupted) {
        thread.interrupt();
      }
    }
  }

  /** Nothing: an interrupt wakes the thread up, which then looks what to do. */
  @Override
  public void beginSleep() {}

  // ---- Calls of the upgrade

  /** No program selects a socket. */
  @Override
  public void inputMoved() {}

  @Override
  public AtomicReference<@Nullable Upgrade> upgrade() {
    return upgrade;
  }

  @Override
  public boolean mayResume() {
    return !input.hasTcpEnded();
  }

  @Override
  public void endTcpInput() {
    input.tcpEnds();
    try {
      socket.shutdownInput();
    } catch (IOException closedAlready) {
      rendezvous.log(toString(), "was closed when its input ended: " + closedAlready);
    }
  }

  @Override
  public void endTcpOutput() throws IOException {
    socket.shutdownOutput();
  }

  @Override
  public void closeTcp(boolean resets) {
    try {
      if (resets) {
        socket.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      socket.close();
    } catch (IOException failed) {
      rendezvous.log(toString(), "cannot be closed: " + failed);
    }
  }

  /** No program selects a socket. */
  @Override
  public void ready(int operations) {}

  @Override
  public void changed() {
    input.wake();
    output.wake();
  }

  @Override
  public void forget(Upgrade way) {
    rendezvous.forget(way);
    upgrade.compareAndSet(way, null);
    changed();
  }

  /**
   * Stays on TCP for good, if it is not too late.
   *
   * @return false if it may have been upgraded
   */
  boolean staysWithTcp() {
    Upgrade way = upgrade.get();
    return way == null || way.stay();
  }

  // ---- The end

  void shutdownInput() throws IOException {
    input.shutDown(upgrade.get(), socket::shutdownInput);
  }

  void shutdownOutput() throws IOException {
    output.shutDown(upgrade.get(), socket::shutdownOutput);
  }

  void close() throws IOException {
    if (closed.get()) {
      return;
    }
    Upgrade way = upgrade.get();
    int linger = way == null ? -1 : lingerSeconds(way);
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      record.closed();
      if (way == null || !way.close().delaysTcp(linger)) {
        socket.close();
      }
    } finally {
      changed();
      if (way != null) {
        way.close().within(linger);
      }
    }
  }

  /** Closes what the program has dropped without closing it. */
  void abandoned() {
    var unused =
        ChannelThreads.start(
            "rdma4j-nio-close",
            () -> {
              try {
                close();
              } catch (IOException failed) {
                rendezvous.log(toString(), "cannot be closed: " + failed);
              }
            });
  }

  /** Returns the value of SO_LINGER. A peer that may not know of a reset gets one over TCP. */
  private int lingerSeconds(Upgrade way) throws IOException {
    if (way.isReset() || way.hasUnreadAfterResume()) {
      socket.setOption(StandardSocketOptions.SO_LINGER, 0);
    }
    return socket.getOption(StandardSocketOptions.SO_LINGER);
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}
