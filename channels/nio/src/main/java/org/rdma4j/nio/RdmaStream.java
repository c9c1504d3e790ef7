package org.rdma4j.nio;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;

/**
 * The messages of an RDMA connection as a stream of bytes in each direction. No method waits.
 *
 * <p>One thread at a time may take bytes, and one may put them. Other threads deliver.
 */
final class RdmaStream {
  /**
   * How many bytes of memory may be held for what waits to be sent, as in the send buffer of a
   * socket.
   */
  static final long WINDOW = 1L << 20;

  /** How long a channel waits if no memory can be registered, until it tries again. */
  private static final Duration MEMORY_PAUSE = Duration.ofMillis(10);

  /** How long after the last write a channel keeps the memory for what it may send again. */
  private static final long IDLE_NANOS = Duration.ofSeconds(1).toNanos();

  /**
   * The length of the longest message. One of so many bytes is fetched by the peer by RDMA read.
   * That costs a round trip, and still carries a long write in less time than messages of {@link
   * Rendezvous#PIECE} do, because one takes the place of four.
   */
  static final int LONG_PIECE = 64 << 10;

  private final RdmaConnection connection;
  private final Rendezvous rendezvous;
  private final Runnable roomAgain;
  private final OperationHandler sent = this::sent;
  private final ConcurrentLinkedQueue<MessageBuffer> inbox = new ConcurrentLinkedQueue<>();

  /** The memory of the messages that had to wait and have not arrived yet, in bytes. */
  private final AtomicLong outstanding = new AtomicLong();

  /**
   * Collects short writes while messages are outstanding, so that they do not take a buffer each.
   * The arrival of an earlier message sends it. The lock of writers guards this.
   */
  private volatile @Nullable MessageBuffer joined;

  /** Whether {@link #flush} must be called. */
  private volatile boolean flushDue;

  /** Whether no memory could be registered a moment ago. */
  private volatile boolean lacksMemory;

  /** The number of messages that were sent. The lock of writers guards its changes. */
  private final AtomicLong messages = new AtomicLong();

  /** Whether nothing was sent after the last mark. The lock of writers guards its changes. */
  private volatile boolean marked = true;

  /** What can be sent again over TCP if RDMA fails. */
  private final HeldBytes kept;

  /** What of it the peer's process has, and what of the peer's bytes this process has. */
  private final DeliveryReports reports;

  /** When the last mark was sent. The lock of writers guards this. */
  private long markedAt;

  /** The number of bytes that came over RDMA. Used by the thread that delivers. */
  private long delivered;

  /** Held while a message is counted, so that none is once the stream has stalled. */
  private final Object arrivals = new Object();

  /** Whether RDMA has failed, and it is not known yet whether the connection resumes over TCP. */
  private volatile boolean stalled;

  private volatile boolean outputEnded;

  /** Whether the last message that has arrived was the mark. */
  private volatile boolean complete;

  /** Whether the end of the process does not wait any longer for what was sent. */
  private volatile boolean abandoned;

  private volatile boolean aborted;
  private volatile boolean inputEnded;
  private volatile boolean dropped;
  private volatile @Nullable String over;

  /**
   * Creates the stream.
   *
   * @param rendezvous counts the bytes
   * @param connection the connection
   * @param roomAgain is called when there is room for more bytes, or {@link #isFlushDue}
   */
  RdmaStream(Rendezvous rendezvous, RdmaConnection connection, Runnable roomAgain) {
    this.rendezvous = rendezvous;
    this.connection = connection;
    this.roomAgain = roomAgain;
    this.kept = new HeldBytes(rendezvous.memory());
    this.reports = new DeliveryReports(connection, kept);
  }

  RdmaConnection connection() {
    return connection;
  }

  // ---- Input

  /**
   * Takes a message that has arrived. An empty one is the mark: nothing that was written before it
   * is missing. A second one behind it is the end.
   *
   * @return whether it may come: nothing may follow the end
   */
  boolean arrived(MessageBuffer message) {
    synchronized (arrivals) {
      if (stalled) {
        // The peer sends it again, because it was not counted when the connection stalled.
        message.close();
        return true;
      }
      boolean may = add(message);
      reports.report(delivered, inputEnded);
      return may;
    }
  }

  /** The peer asks whether its bytes were delivered. */
  void asked(IncomingRequest request) {
    synchronized (arrivals) {
      reports.asked(request, delivered, inputEnded);
    }
  }

  private boolean add(MessageBuffer message) {
    boolean late = inputEnded;
    boolean mark = message.length() == 0;
    boolean end = mark && complete;
    complete = mark;
    delivered += late ? 0 : message.length();
    if (late || mark || dropped) {
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

  /** Records that the connection has ended, after all that has arrived. */
  void ended(boolean inOrder) {
    if (over == null) {
      over = inOrder ? "Broken pipe" : "Connection reset by peer";
    }
    kept.end();
    reports.end();
  }

  /**
   * Records that the peer's process has ended, and that nothing of what it has written is missing.
   */
  void endedWithPeer() {
    // In this order, because a reader looks at the end first.
    inputEnded = true;
    ended(true);
  }

  // ---- Resume

  /** Returns whether the rest of both directions may use TCP, if RDMA fails. */
  boolean mayResume() {
    return over == null;
  }

  /** Returns whether the peer has ended its output. */
  boolean isInputEnded() {
    return inputEnded;
  }

  /** Takes no more bytes for RDMA, until it is known how the connection goes on. */
  void stall() {
    synchronized (arrivals) {
      stalled = true;
    }
    reports.end();
    kept.freeze();
    // Lets go of the buffer of what was joined, whose bytes are kept.
    flushDue = true;
  }

  boolean isStalled() {
    return stalled && over == null;
  }

  HeldBytes kept() {
    return kept;
  }

  /** Returns the number of bytes that came over RDMA. Called after its end, when no more come. */
  long delivered() {
    return delivered;
  }

  /** Returns whether nothing that the peer has written is missing, as far as it has said. */
  boolean isComplete() {
    return complete || inputEnded;
  }

  /** Returns whether bytes have arrived that were not read. */
  boolean hasUnread() {
    return !inbox.isEmpty();
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

  /** Returns whether nothing more can arrive at the peer. */
  boolean isOver() {
    return over != null;
  }

  /** Returns the number of messages that were sent, with the message that waits for more bytes. */
  long messages() {
    return messages.getAcquire() + (joined == null ? 0 : 1);
  }

  /** Returns whether so many messages have arrived. */
  boolean hasArrived(long count) {
    // In this order: what is sent in between makes the difference smaller.
    long sentSoFar = messages.getAcquire();
    return sentSoFar - inFlight() >= count;
  }

  /** Returns whether the peer's process has all bytes that were sent, and the end. */
  boolean isEndDelivered() {
    return reports.isEndDelivered();
  }

  /**
   * Asks the peer for the delivery of the end. Called with the lock of writers.
   *
   * @param answered is called after an answer or a failure
   */
  void askForEnd(Runnable answered) {
    if (outputEnded && over == null && !stalled) {
      reports.ask(true, answered);
    }
  }

  /** Returns the number of messages that have not arrived, and still can. */
  int inFlight() {
    return connection.isOpen() ? connection.statistics().outstanding() : 0;
  }

  /**
   * Notifies the peer that nothing is missing, once nothing is in flight. So the end of this
   * process is the end of the stream. Called with the lock of writers.
   *
   * @param asks whether the peer is asked what was delivered, so that it need not be held
   */
  void mark(boolean asks) {
    if (!isQuiet()) {
      return;
    }
    if (!marked && !outputEnded) {
      sendMark();
    }
    if (kept.count() > 0) {
      if (asks) {
        reports.ask(false, () -> {});
      }
    } else if (System.nanoTime() - markedAt >= IDLE_NANOS) {
      kept.shrink();
    }
  }

  /** Returns whether all that was written has arrived. */
  private boolean isQuiet() {
    // The last condition is tested after the one before it: nothing is in flight after the end.
    return over == null && !stalled && joined == null && inFlight() == 0 && connection.isOpen();
  }

  private void sendMark() {
    send(ByteBuffer.allocate(0));
    marked = true;
    markedAt = System.nanoTime();
  }

  /** Returns whether a later {@link #mark} has something to do. */
  boolean isMarkDue() {
    return over == null && (!marked || kept.holdsMemory());
  }

  /** Returns whether nothing was sent after the peer was notified that nothing is missing. */
  boolean isMarked() {
    return marked;
  }

  /** Breaks the connection, as a failure of the device does. The stream may go on over TCP. */
  void abort() {
    aborted = true;
    connection.abort();
  }

  /** Returns whether this side has broken the connection: its end has no reason then. */
  boolean isAborted() {
    return aborted;
  }

  void abandon() {
    abandoned = true;
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /** Returns whether there is room for many bytes, or a put fails. */
  boolean isWritable() {
    return over != null
        || (!stalled && connection.isOpen() && outstanding.get() <= WINDOW / 2 && !lacksMemory);
  }

  /** Returns whether the thread that has the lock of writers must call {@link #flush}. */
  boolean isFlushDue() {
    return flushDue;
  }

  /** Sends what was joined. Called with the lock of writers. */
  void flush() {
    flushDue = false;
    MessageBuffer message = joined;
    if (message == null) {
      return;
    }
    joined = null;
    if (stalled) {
      message.close();
      return;
    }
    boolean done = false;
    try {
      message.byteBuffer().flip();
      send(message);
      done = true;
    } finally {
      if (!done) {
        // The program has written these bytes, so nothing may follow them.
        message.close();
        abort();
      }
    }
  }

  /**
   * Sends as many bytes of the buffers as there is room for.
   *
   * @return their number
   * @throws IOException if the connection has ended, and nothing was sent
   * @throws IllegalStateException if the memory of a buffer was closed, and nothing was sent
   */
  long put(ByteBuffer[] sources, int offset, int length) throws IOException {
    long count = 0;
    int at = offset;
    while (at < offset + length) {
      if (!sources[at].hasRemaining()) {
        at++;
        continue;
      }
      if (stalled) {
        String known = over;
        if (known == null || count > 0) {
          return count;
        }
        throw new IOException(known);
      }
      try {
        int sent = lacksMemory && over == null ? 0 : putSome(sources, at, offset + length);
        if (sent == 0) {
          return count;
        }
        count += sent;
        rendezvous.sentBytes().add(sent);
      } catch (RdmaException | IllegalStateException failed) {
        if (count > 0) {
          return count;
        }
        if (isNoMemory(failed)) {
          awaitMemory();
          return 0;
        }
        checkAccessible(sources, at, offset + length);
        if (mayResume()) {
          if (connection.isOpen()) {
            // The device has failed, but its connection is still open.
            abort();
          }
          // Its end follows, and then it is known whether the connection resumes over TCP.
          return 0;
        }
        String known = over;
        throw new IOException(known == null ? "Broken pipe" : known, failed);
      }
    }
    return count;
  }

  private static boolean isNoMemory(RuntimeException failed) {
    return failed instanceof RdmaException known
        && !(known instanceof ConnectionException)
        && known.errno() == ErrorNumber.ENOMEM.value();
  }

  /**
   * Checks that the calling thread may read the buffers.
   *
   * @throws IllegalStateException if it may not, because their memory was closed
   */
  private static void checkAccessible(ByteBuffer[] sources, int from, int to) {
    for (int i = from; i < to; i++) {
      if (sources[i].hasRemaining()) {
        var unused = sources[i].get(sources[i].position());
      }
    }
  }

  private void awaitMemory() {
    lacksMemory = true;
    var unused =
        rendezvous.later(
            MEMORY_PAUSE,
            () -> {
              lacksMemory = false;
              roomAgain.run();
            });
  }

  /** Sends or joins some bytes, and returns how many; 0 if there is no room. */
  private int putSome(ByteBuffer[] sources, int from, int to) {
    long held = outstanding.get();
    if (held >= WINDOW) {
      return 0;
    }
    long window = rendezvous.memory().window();
    if (held >= window) {
      if (held <= WINDOW / 2) {
        // Others hold the memory, and the arrival of their messages does not wake this channel.
        awaitMemory();
      }
      return 0;
    }
    long left = 0;
    for (int i = from; i < to && left < LONG_PIECE; i++) {
      left += sources[i].remaining();
    }
    boolean isLong = Math.min(left, window - held) >= LONG_PIECE;
    if (held > 0 && !isLong) {
      return join(sources, from, left);
    }
    flush();
    int bytes = isLong ? LONG_PIECE : (int) Math.min(left, Rendezvous.PIECE);
    if (!kept.add(sources, from, bytes)) {
      return 0;
    }
    try {
      sendSome(sources, from, bytes);
    } catch (RdmaException | IllegalStateException failed) {
      if (kept.remove(bytes)) {
        throw failed;
      }
      // The connection resumes, and sends these bytes again.
      consume(sources, from, bytes);
    }
    return bytes;
  }

  private void sendSome(ByteBuffer[] sources, int from, int bytes) {
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
  }

  /** Adds bytes to the waiting ones, and sends these if they fill a buffer. */
  private int join(ByteBuffer[] sources, int from, long left) {
    MessageBuffer message = joined;
    if (message == null) {
      message = connection.allocateBuffer(Rendezvous.PIECE);
      joined = message;
    }
    ByteBuffer target = message.byteBuffer();
    int before = target.position();
    int bytes = (int) Math.min(left, target.remaining());
    if (!kept.add(sources, from, bytes)) {
      return 0;
    }
    boolean filled = false;
    try {
      fill(target, sources, from, bytes);
      filled = true;
    } finally {
      if (!filled) {
        target.position(before);
        kept.remove(bytes);
      }
    }
    consume(sources, from, bytes);
    // If all that was outstanding has arrived meanwhile, no arrival sends this.
    if (!target.hasRemaining() || isIdle()) {
      try {
        flush();
      } catch (RdmaException | IllegalStateException failed) {
        if (!mayResume()) {
          throw failed;
        }
        // The bytes are kept, and so the connection resumes over TCP, or is reset.
      }
    }
    return bytes;
  }

  /**
   * Sends a message of its own, behind all others. What is sent without a completion is not
   * counted, so that is one long message at most: its memory is held until the peer fetches it.
   * Called with the lock of writers.
   */
  void send(ByteBuffer bytes) {
    boolean waits = !isIdle() || (bytes.remaining() > Rendezvous.PIECE && inFlight() > 0);
    if (waits || !connection.trySend(bytes)) {
      sendLater(bytes, null);
    }
    count();
  }

  private void send(MessageBuffer message) {
    if (!isIdle() || !connection.trySend(message)) {
      sendLater(message.byteBuffer(), message);
    }
    count();
  }

  private void count() {
    messages.setRelease(messages.getPlain() + 1);
    if (marked) {
      marked = false;
      rendezvous.marks().due();
    }
  }

  /** Sends the first bytes of several buffers as one message. */
  private void gather(ByteBuffer[] sources, int from, int bytes) {
    MessageBuffer message = connection.allocateBuffer(bytes);
    try {
      fill(message.byteBuffer(), sources, from, bytes);
      message.byteBuffer().flip();
      send(message);
    } finally {
      // Does nothing if it was sent.
      message.close();
    }
    consume(sources, from, bytes);
  }

  /** Returns whether no message waits, so that the next one may be sent without a completion. */
  private boolean isIdle() {
    return outstanding.get() == 0;
  }

  /**
   * Sends a message that may have to wait. Its memory counts until it has arrived.
   *
   * @param holder the buffer of the bytes; null to send a copy of them
   */
  private void sendLater(ByteBuffer bytes, @Nullable MessageBuffer holder) {
    long token = Math.max(bytes.remaining(), Rendezvous.PIECE);
    outstanding.addAndGet(token);
    rendezvous.memory().sending(token);
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
        rendezvous.memory().sending(-token);
      }
    }
  }

  /** Copies bytes, and does not move the positions of the sources. */
  private static void fill(ByteBuffer target, ByteBuffer[] sources, int from, int bytes) {
    int left = bytes;
    for (int i = from; left > 0; i++) {
      ByteBuffer source = sources[i];
      int length = Math.min(source.remaining(), left);
      target.put(target.position(), source, source.position(), length);
      target.position(target.position() + length);
      left -= length;
    }
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

  /** Ends the output. Called with the lock of writers. */
  void sendEnd() {
    flush();
    outputEnded = true;
    if (!marked) {
      sendMark();
    }
    sendMark();
  }

  private void sent(long token, @Nullable RuntimeException failure) {
    long left = outstanding.addAndGet(-token);
    rendezvous.memory().sending(-token);
    boolean flushes = joined != null && left <= LONG_PIECE;
    if (flushes) {
      flushDue = true;
    }
    if (flushes || failure != null || (left <= WINDOW / 2 && left + token > WINDOW / 2)) {
      roomAgain.run();
    }
  }
}
