package org.rdma4j.nio;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;

/**
 * The messages of an RDMA connection as a stream of bytes in each direction. No method waits.
 *
 * <p>One thread at a time may take bytes, and one may put them. Other threads deliver.
 */
final class RdmaStream {
  /** How many bytes may be under way, as in the buffer of a socket. */
  static final long WINDOW = 1L << 20;

  /**
   * A message of so many bytes is fetched by the peer by RDMA read. That costs a round trip, and
   * still carries a long write in less time than messages of {@link Rendezvous#PIECE} do, because
   * one takes the place of four.
   */
  private static final int LONG_PIECE = 64 << 10;

  private final RdmaConnection connection;
  private final Rendezvous rendezvous;
  private final Runnable roomAgain;
  private final OperationHandler sent = this::sent;
  private final ConcurrentLinkedQueue<MessageBuffer> inbox = new ConcurrentLinkedQueue<>();

  /** The bytes that are on their way to the peer, plus one for each message. */
  private final AtomicLong outstanding = new AtomicLong();

  private volatile boolean inputEnded;
  private volatile boolean dropped;
  private volatile @Nullable String over;

  /**
   * Creates the stream.
   *
   * @param rendezvous counts the bytes
   * @param connection the connection
   * @param roomAgain is called when there is room for more bytes
   */
  RdmaStream(Rendezvous rendezvous, RdmaConnection connection, Runnable roomAgain) {
    this.rendezvous = rendezvous;
    this.connection = connection;
    this.roomAgain = roomAgain;
  }

  RdmaConnection connection() {
    return connection;
  }

  // ---- Input

  /**
   * Takes a message that has arrived.
   *
   * @return whether it may come: nothing may follow the end
   */
  boolean arrived(MessageBuffer message) {
    boolean late = inputEnded;
    boolean end = message.length() == 0;
    if (late || end || dropped) {
      message.close();
      if (end) {
        inputEnded = true;
      }
    } else {
      inbox.add(message);
      if (dropped) {
        drop();
      }
    }
    return !late;
  }

  /** Notes that the connection has ended, after all that has arrived. */
  void ended(boolean inOrder) {
    if (over == null) {
      over = inOrder ? "Broken pipe" : "Connection reset by peer";
    }
  }

  boolean isReadable() {
    return inputEnded || over != null || !inbox.isEmpty();
  }

  int available() {
    MessageBuffer first = inbox.peek();
    return first == null ? 0 : (int) first.length();
  }

  /**
   * Moves bytes that have arrived into a buffer.
   *
   * @return their number; 0 if there are none now, -1 if the stream has ended
   * @throws SocketException if the connection was reset, and all that came before was taken
   */
  int take(ByteBuffer target) throws SocketException {
    int count = 0;
    while (target.hasRemaining()) {
      // In this order: what was added before the end was noted must be seen.
      boolean ended = inputEnded;
      boolean broken = over != null;
      MessageBuffer message = inbox.peek();
      if (message == null) {
        if (count == 0 && ended) {
          return -1;
        }
        if (count == 0 && broken) {
          throw new SocketException("Connection reset");
        }
        return count;
      }
      ByteBuffer bytes = message.byteBuffer();
      int length = Math.min(bytes.remaining(), target.remaining());
      target.put(target.position(), bytes, bytes.position(), length);
      target.position(target.position() + length);
      bytes.position(bytes.position() + length);
      count += length;
      rendezvous.receivedBytes().add(length);
      if (!bytes.hasRemaining()) {
        inbox.remove();
        message.close();
      }
    }
    return count;
  }

  /** Drops what has arrived and what arrives. */
  void drop() {
    dropped = true;
    MessageBuffer message = inbox.poll();
    while (message != null) {
      message.close();
      message = inbox.poll();
    }
  }

  // ---- Output

  /** Returns whether there is room for many bytes, or a put fails. */
  boolean isWritable() {
    return outstanding.get() <= WINDOW / 2 || over != null;
  }

  /**
   * Sends as many bytes of the buffers as there is room for.
   *
   * @return their number
   * @throws IOException if the connection has ended, and nothing was sent
   */
  long put(ByteBuffer[] sources, int offset, int length) throws IOException {
    long count = 0;
    int at = offset;
    while (at < offset + length) {
      if (!sources[at].hasRemaining()) {
        at++;
        continue;
      }
      long room = WINDOW - outstanding.get();
      if (room <= 0) {
        return count;
      }
      try {
        count += send(sources, at, offset + length, room);
      } catch (RdmaException | IllegalStateException ended) {
        if (count == 0) {
          String known = over;
          throw new IOException(known == null ? "Broken pipe" : known, ended);
        }
        return count;
      }
    }
    return count;
  }

  /** Sends one message, of at most so many bytes as there is room for. */
  private int send(ByteBuffer[] sources, int from, int to, long room) {
    long left = 0;
    for (int i = from; i < to && left < LONG_PIECE; i++) {
      left += sources[i].remaining();
    }
    long most = Math.min(left, room);
    int bytes = (int) Math.min(most, most < LONG_PIECE ? Rendezvous.PIECE : LONG_PIECE);
    ByteBuffer first = sources[from];
    if (bytes <= first.remaining()) {
      int limit = first.limit();
      first.limit(first.position() + bytes);
      try {
        send(first);
      } finally {
        first.limit(limit);
      }
    } else {
      gather(sources, from, bytes);
    }
    rendezvous.sentBytes().add(bytes);
    return bytes;
  }

  /** Sends a message of its own, behind all others. */
  void send(ByteBuffer bytes) {
    if (!isIdle() || !connection.trySend(bytes)) {
      sendLater(bytes, null);
    }
  }

  /** Sends the first bytes of several buffers as one message. */
  private void gather(ByteBuffer[] sources, int from, int bytes) {
    MessageBuffer message = connection.allocateBuffer(bytes);
    boolean done = false;
    try {
      fill(message.byteBuffer(), sources, from);
      if (!isIdle() || !connection.trySend(message)) {
        sendLater(message.byteBuffer(), message);
      }
      done = true;
    } finally {
      if (!done) {
        message.close();
      }
    }
    consume(sources, from, bytes);
  }

  /**
   * Returns whether a message may be sent at once, which costs no completion. It must not overtake
   * one that waits.
   */
  private boolean isIdle() {
    return outstanding.get() == 0;
  }

  /**
   * Sends a message that may have to wait. It counts until it has arrived.
   *
   * @param holder the buffer of the bytes; null to send a copy of them
   */
  private void sendLater(ByteBuffer bytes, @Nullable MessageBuffer holder) {
    long token = bytes.remaining() + 1L;
    outstanding.addAndGet(token);
    boolean done = false;
    try {
      // Not with a lambda, so that this allocates nothing.
      if (holder == null) {
        connection.sendAsync(bytes, token, sent);
      } else {
        connection.sendAsync(holder, token, sent);
      }
      done = true;
    } finally {
      if (!done) {
        outstanding.addAndGet(-token);
      }
    }
  }

  private static void fill(ByteBuffer target, ByteBuffer[] sources, int from) {
    int at = from;
    while (target.hasRemaining()) {
      ByteBuffer source = sources[at++];
      int length = Math.min(source.remaining(), target.remaining());
      target.put(target.position(), source, source.position(), length);
      target.position(target.position() + length);
    }
    target.flip();
  }

  /** Moves the positions of the buffers, once their bytes were sent. */
  private static void consume(ByteBuffer[] sources, int from, int bytes) {
    int left = bytes;
    for (int i = from; left > 0; i++) {
      int length = Math.min(sources[i].remaining(), left);
      sources[i].position(sources[i].position() + length);
      left -= length;
    }
  }

  /** Ends the output. */
  void sendEnd() {
    send(ByteBuffer.allocate(0));
  }

  private void sent(long token, @Nullable RuntimeException failure) {
    long left = outstanding.addAndGet(-token);
    if (failure != null || (left <= WINDOW / 2 && left + token > WINDOW / 2)) {
      roomAgain.run();
    }
  }
}
