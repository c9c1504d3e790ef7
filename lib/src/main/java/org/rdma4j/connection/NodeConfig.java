package org.rdma4j.connection;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.platform.Range;

/**
 * The configuration of an {@link RdmaNode}. Start from {@link #DEFAULT}. Immutable: each method
 * that takes a value returns a changed copy. The two sides of a connection may differ.
 *
 * <p>What peers that the program knows nothing of cost a node with the defaults is bounded. A
 * connection takes a queue pair and 2 buffers, and while its peer sends, up to {@code receives} and
 * 1, or 5 with a peer of an older version; no thread and no descriptor. A connection that receives
 * no answers takes a quarter of the free buffers as well, at most 3,300 or 26 MiB, and a connection
 * that sends long messages at most a third of {@code maxLargeBytes}, but no more than eight times
 * what it has offered of them. An address has 1024 connections, of which 256 are in their
 * handshake, for 5 s at most. All connections together take {@code maxBuffers}, briefly twice as
 * many, and as much again as {@code maxLargeBytes} for what arrives.
 *
 * @param bufferBytes the length in bytes of the messages that are sent into a buffer that the
 *     receiver has posted; the receiver fetches longer ones by RDMA read; default 8176, which makes
 *     two packets of 4096 bytes with the header of 16 bytes
 * @param receives the number of messages that a peer may send at most before this side has received
 *     and closed one; a connection starts with 1, and gets more when it uses them up; default 64
 * @param sends the number of requests of a connection that the device has at a time; further ones
 *     wait in this process. A message takes one, a message that the peer fetches up to three;
 *     default 32
 * @param pollers the number of completion queues of each device, each of which has a shared receive
 *     queue and a thread; connections are spread over them, and more are added when these are full;
 *     default the number of processors, at most 8
 * @param maxBuffers the number of buffers of {@code bufferBytes} that all connections of a device
 *     have at most, from which they send and into which they receive; default 16384, so 128 MiB. A
 *     node has three eighths as many connections at most. When all are in use, peers that could
 *     send nothing otherwise get up to as many again. If posted receives take all of them, an
 *     eighth of this number can still be taken to send from. If what handlers send to a peer, and
 *     the peer does not receive, takes a quarter of what is free, the peer can send nothing until
 *     it has received some of it; if it takes more than what is free, the connection breaks
 * @param maxMessageBytes the length in bytes of the longest message that is received; also the
 *     memory that a connection has at most for long messages that have not been closed; default 256
 *     MiB
 * @param initialMessageBytes the length in bytes of the longest message that a peer may send over a
 *     connection that a server of the node has accepted, until {@link
 *     RdmaConnection#allowMessages}; a longer one breaks the connection before it takes memory. For
 *     servers that check first who the peer is. 0 for {@code maxMessageBytes}; default 0
 * @param maxLargeBytes the bytes of all buffers of a device for messages longer than {@code
 *     bufferBytes}, sent or received, beyond which {@link RdmaConnection#buffer(long, Duration)}
 *     waits. A buffer is up to an eighth longer than what it was asked for, or less than twice as
 *     long if it was in use before, and counts with its length. What does not wait, such as {@link
 *     RdmaConnection#allocateBuffer}, exceeds it if need be. Messages that arrive, and answers,
 *     have as many bytes of their own, or four times {@code maxMessageBytes} if that is more;
 *     beyond them they wait. A connection gets no more than half of the remaining ones. If what its
 *     handlers send, and the peer does not fetch, takes a quarter of the rest, the peer can send
 *     nothing until it has fetched some of it; default 1 GiB
 * @param maxConnectionsPerAddress the number of connections that the servers of the node have at
 *     most with one address; further ones are rejected. When more than a quarter of them are in
 *     their handshake, the oldest of these is dropped. 0 for any number; default 1024
 * @param handshakeTimeout the time that a peer has for its part of a new connection: to confirm
 *     that the server has accepted it, and to send the first message if its network wants that from
 *     the client. Then the connection ends, and what it took is free. A server that chooses its
 *     peers with {@link RdmaServer#onConnect} has as long to decide; default 5 s
 * @param progressTimeout the time after which the connection breaks if nothing of a message longer
 *     than {@code bufferBytes} arrives that the peer has begun to send; zero for never; default 30
 *     s. Long messages that wait because others have all memory are not late
 * @param closeTimeout the longest time that the close of a connection waits until everything sent
 *     has arrived; default 5 s. After that, the close of a connection, a server or a node waits
 *     once more: for handlers to return, and for the device. This second wait is also limited to
 *     {@code closeTimeout}, but to 5 s if that is longer. If it is not enough, a warning is logged,
 *     and the close goes on in another thread
 * @param keepAlive the time after which an idle connection checks that the peer can still be
 *     reached; zero for never; default 30 s
 * @param handlers runs handlers, and completes futures; default {@link #WHERE_IT_HAPPENS}. What
 *     belongs to one connection is run in its order, one at a time
 */
public record NodeConfig(
    int bufferBytes,
    int receives,
    int sends,
    int pollers,
    int maxBuffers,
    long maxMessageBytes,
    long initialMessageBytes,
    long maxLargeBytes,
    int maxConnectionsPerAddress,
    Duration handshakeTimeout,
    Duration progressTimeout,
    Duration closeTimeout,
    Duration keepAlive,
    Executor handlers) {
  /**
   * Runs handlers and completes futures in the thread that has found their event, without a change
   * of threads: a thread that polls, or that waits for something of the node. So they must not wait
   * for anything, and delay other connections while they run. In a {@link DrivenNode}, it is the
   * thread that drives.
   */
  public static final Executor WHERE_IT_HAPPENS = Runnable::run;

  /** The defaults of all values. */
  public static final NodeConfig DEFAULT =
      new NodeConfig(
          8176,
          64,
          32,
          Math.min(8, Runtime.getRuntime().availableProcessors()),
          1 << 14,
          256L << 20,
          0,
          1L << 30,
          1 << 10,
          Duration.ofSeconds(5),
          Duration.ofSeconds(30),
          Duration.ofSeconds(5),
          Duration.ofSeconds(30),
          WHERE_IT_HAPPENS);

  private static final int MAX_BUFFER_BYTES = 1 << 30;
  private static final long MAX_MESSAGE_BYTES = 1L << 32;
  private static final long MAX_LARGE_BYTES = 1L << 40;

  /**
   * Creates a configuration with all its values.
   *
   * @throws IllegalArgumentException if a value is out of its range: from 64 bytes to 1 GiB for
   *     {@code bufferBytes}, from 2 to 16384 for {@code receives}, from 2 to 4096 for {@code
   *     sends}, from 1 to 64 for {@code pollers}, from 64 to 2^20 for {@code maxBuffers}, from 1 to
   *     2^32 for {@code maxMessageBytes}, from 0 to 2^32 for {@code initialMessageBytes}, from 1 to
   *     2^40 for {@code maxLargeBytes}; or if {@code maxConnectionsPerAddress} or a time is
   *     negative
   */
  public NodeConfig {
    Range.check("bufferBytes", bufferBytes, Hello.MIN_BUFFER_BYTES, MAX_BUFFER_BYTES);
    Range.check("receives", receives, 2, 1 << 14);
    Range.check("sends", sends, 2, 1 << 12);
    Range.check("pollers", pollers, 1, 64);
    Range.check("maxBuffers", maxBuffers, 64, 1 << 20);
    checkBytes("maxMessageBytes", maxMessageBytes, 1, MAX_MESSAGE_BYTES);
    checkBytes("initialMessageBytes", initialMessageBytes, 0, MAX_MESSAGE_BYTES);
    checkBytes("maxLargeBytes", maxLargeBytes, 1, MAX_LARGE_BYTES);
    Range.check("maxConnectionsPerAddress", maxConnectionsPerAddress, 0, Integer.MAX_VALUE);
    checkNotNegative("handshakeTimeout", handshakeTimeout);
    checkNotNegative("progressTimeout", progressTimeout);
    checkNotNegative("closeTimeout", closeTimeout);
    checkNotNegative("keepAlive", keepAlive);
    Objects.requireNonNull(handlers, "handlers");
  }

  /** Returns whether handlers may wait, because they have threads of their own. */
  boolean handlersMayWait() {
    return handlers != WHERE_IT_HAPPENS;
  }

  private static void checkBytes(String name, long bytes, long min, long max) {
    if (bytes < min || bytes > max) {
      throw new IllegalArgumentException(
          "%s is %d, must be from %d to %d".formatted(name, bytes, min, max));
    }
  }

  private static void checkNotNegative(String name, Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException(name + " is " + time + ", must not be negative");
    }
  }

  /** The values of a configuration, one of which is to be changed. */
  private static final class Draft {
    int bufferBytes;
    int receives;
    int sends;
    int pollers;
    int maxBuffers;
    long maxMessageBytes;
    long initialMessageBytes;
    long maxLargeBytes;
    int maxConnectionsPerAddress;
    Duration handshakeTimeout;
    Duration progressTimeout;
    Duration closeTimeout;
    Duration keepAlive;
    Executor handlers;

    Draft(NodeConfig from) {
      bufferBytes = from.bufferBytes;
      receives = from.receives;
      sends = from.sends;
      pollers = from.pollers;
      maxBuffers = from.maxBuffers;
      maxMessageBytes = from.maxMessageBytes;
      initialMessageBytes = from.initialMessageBytes;
      maxLargeBytes = from.maxLargeBytes;
      maxConnectionsPerAddress = from.maxConnectionsPerAddress;
      handshakeTimeout = from.handshakeTimeout;
      progressTimeout = from.progressTimeout;
      closeTimeout = from.closeTimeout;
      keepAlive = from.keepAlive;
      handlers = from.handlers;
    }
  }

  private NodeConfig with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new NodeConfig(
        draft.bufferBytes,
        draft.receives,
        draft.sends,
        draft.pollers,
        draft.maxBuffers,
        draft.maxMessageBytes,
        draft.initialMessageBytes,
        draft.maxLargeBytes,
        draft.maxConnectionsPerAddress,
        draft.handshakeTimeout,
        draft.progressTimeout,
        draft.closeTimeout,
        draft.keepAlive,
        draft.handlers);
  }

  /**
   * Returns a copy with another {@link #bufferBytes()}.
   *
   * @param bufferBytes the length in bytes, from 64 to 1 GiB
   * @return the copy
   * @throws IllegalArgumentException if the length is out of range
   */
  public NodeConfig bufferBytes(int bufferBytes) {
    return with(draft -> draft.bufferBytes = bufferBytes);
  }

  /**
   * Returns a copy with another {@link #receives()}.
   *
   * @param receives the number of messages, from 2 to 16384
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public NodeConfig receives(int receives) {
    return with(draft -> draft.receives = receives);
  }

  /**
   * Returns a copy with another {@link #sends()}.
   *
   * @param sends the number of requests, from 2 to 4096
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public NodeConfig sends(int sends) {
    return with(draft -> draft.sends = sends);
  }

  /**
   * Returns a copy with another {@link #pollers()}.
   *
   * @param pollers the number of completion queues, from 1 to 64
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public NodeConfig pollers(int pollers) {
    return with(draft -> draft.pollers = pollers);
  }

  /**
   * Returns a copy with another {@link #maxBuffers()}.
   *
   * @param maxBuffers the number of buffers, from 64 to 2^20
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public NodeConfig maxBuffers(int maxBuffers) {
    return with(draft -> draft.maxBuffers = maxBuffers);
  }

  /**
   * Returns a copy with another {@link #maxMessageBytes()}.
   *
   * @param maxMessageBytes the length in bytes, from 1 to 2^32
   * @return the copy
   * @throws IllegalArgumentException if the length is out of range
   */
  public NodeConfig maxMessageBytes(long maxMessageBytes) {
    return with(draft -> draft.maxMessageBytes = maxMessageBytes);
  }

  /**
   * Returns a copy with another {@link #initialMessageBytes()}.
   *
   * @param initialMessageBytes the length in bytes, from 1 to 2^32; 0 for that of {@link
   *     #maxMessageBytes()}
   * @return the copy
   * @throws IllegalArgumentException if the length is out of range
   */
  public NodeConfig initialMessageBytes(long initialMessageBytes) {
    return with(draft -> draft.initialMessageBytes = initialMessageBytes);
  }

  /**
   * Returns a copy with another {@link #maxLargeBytes()}.
   *
   * @param maxLargeBytes the length in bytes, from 1 to 2^40
   * @return the copy
   * @throws IllegalArgumentException if the length is out of range
   */
  public NodeConfig maxLargeBytes(long maxLargeBytes) {
    return with(draft -> draft.maxLargeBytes = maxLargeBytes);
  }

  /**
   * Returns a copy with another {@link #maxConnectionsPerAddress()}.
   *
   * @param maxConnectionsPerAddress the number of connections, not negative; 0 for any number
   * @return the copy
   * @throws IllegalArgumentException if the number is negative
   */
  public NodeConfig maxConnectionsPerAddress(int maxConnectionsPerAddress) {
    return with(draft -> draft.maxConnectionsPerAddress = maxConnectionsPerAddress);
  }

  /**
   * Returns a copy with another {@link #handshakeTimeout()}.
   *
   * @param handshakeTimeout the time, not negative
   * @return the copy
   * @throws IllegalArgumentException if the time is negative
   */
  public NodeConfig handshakeTimeout(Duration handshakeTimeout) {
    return with(draft -> draft.handshakeTimeout = handshakeTimeout);
  }

  /**
   * Returns a copy with another {@link #progressTimeout()}.
   *
   * @param progressTimeout the time, not negative; zero for never
   * @return the copy
   * @throws IllegalArgumentException if the time is negative
   */
  public NodeConfig progressTimeout(Duration progressTimeout) {
    return with(draft -> draft.progressTimeout = progressTimeout);
  }

  /**
   * Returns a copy with another {@link #closeTimeout()}.
   *
   * @param closeTimeout the time, not negative
   * @return the copy
   * @throws IllegalArgumentException if the time is negative
   */
  public NodeConfig closeTimeout(Duration closeTimeout) {
    return with(draft -> draft.closeTimeout = closeTimeout);
  }

  /**
   * Returns a copy with another {@link #keepAlive()}.
   *
   * @param keepAlive the time, not negative; zero for never
   * @return the copy
   * @throws IllegalArgumentException if the time is negative
   */
  public NodeConfig keepAlive(Duration keepAlive) {
    return with(draft -> draft.keepAlive = keepAlive);
  }

  /**
   * Returns a copy with another {@link #handlers()}, such as {@link
   * java.util.concurrent.Executors#newVirtualThreadPerTaskExecutor}. If it refuses to run
   * something, that is logged, and a thread of the node runs it. It must not drop what it is given
   * without an exception; if it has not run user code for seconds, it gets that again.
   *
   * @param handlers runs handlers, and completes futures
   * @return the copy
   */
  public NodeConfig handlers(Executor handlers) {
    return with(draft -> draft.handlers = handlers);
  }
}
