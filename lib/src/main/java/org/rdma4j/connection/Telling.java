package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.session.Answer;
import org.rdma4j.connection.session.Delivery;
import org.rdma4j.connection.session.Request;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.platform.LockOrder;

/**
 * Notifies the user of one connection of what its session has for it: calls handlers, and completes
 * futures. One thread at a time does that, in the order in which it happened, and without the lock
 * of the connection.
 *
 * <p>Except for {@link #tell}, {@link #isTelling} and what the program calls to set handlers, every
 * method requires the lock.
 */
final class Telling {
  /** An executor that has not run user code after so long may have dropped it. */
  private static final long DROPPED_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final int TOGETHER = 16;

  private final Link link;
  private final Session session;
  private final UnansweredRequests unanswered;

  /** Runs user code, if that is not to run in the thread that has something to tell. */
  private final @Nullable Executor elsewhere;

  private final Runnable tellHere = this::tellHere;
  private final HandlerTime time = new HandlerTime();

  /** What is delivered with one lock: see {@link #tellOfDone} and {@link #tellOfBytes}. */
  private final Request[] ended = new Request[TOGETHER];

  private final Buffer[] told = new Buffer[TOGETHER];

  /** Whether this is to tell users soon, elsewhere. */
  private volatile boolean due;

  /** Since when it is, on the scale of {@link System#nanoTime}. */
  private volatile long dueSince;

  /**
   * The thread that notifies the user; null if none does. Without the lock, a thread looks for
   * itself.
   */
  private @Nullable Thread teller;

  /** At most one of these two is there. */
  private @Nullable MessageHandler messageHandler;

  private @Nullable Consumer<ByteBuffer> bytesHandler;

  /** Is there if the handler of bytes is. */
  private @Nullable LongConsumer noticeHandler;

  private @Nullable RequestHandler requestHandler;
  private @Nullable WritabilityHandler writabilityHandler;

  /** What users hold. If handlers do all the work, only this refers to it. */
  @SuppressWarnings("UnusedVariable")
  private @Nullable Object held;

  Telling(Link link, Session session) {
    this.link = link;
    this.session = session;
    this.unanswered = new UnansweredRequests(link);
    this.elsewhere = link.share().node().elsewhere();
  }

  /** Refuses the requests that the program has dropped. Called at intervals. */
  void refuseDropped() {
    unanswered.refuseDropped();
  }

  void handleMessages(MessageHandler handler, Object holder) {
    set(
        holder,
        () -> {
          messageHandler = handler;
          bytesHandler = null;
          session.wantMessages(true);
        });
  }

  void handleMessageBytes(Consumer<ByteBuffer> handler, LongConsumer ofNotices, Object holder) {
    long longest = link.share().config().maxMessageBytes();
    if (longest > Integer.MAX_VALUE) {
      throw new IllegalStateException(
          "NodeConfig.maxMessageBytes is %d, more than a ByteBuffer can have: lower it, or use onMessage"
              .formatted(longest));
    }
    set(
        holder,
        () -> {
          bytesHandler = handler;
          noticeHandler = ofNotices;
          messageHandler = null;
          session.wantMessages(false);
        });
  }

  void handleRequests(RequestHandler handler, Object holder) {
    set(
        holder,
        () -> {
          requestHandler = handler;
          session.wantRequests();
        });
  }

  void handleWritability(WritabilityHandler handler, Object holder) {
    set(
        holder,
        () -> {
          writabilityHandler = handler;
          session.wantWritability();
        });
  }

  private void set(Object holder, Runnable handler) {
    change(
        () -> {
          session.lifecycle().checkOpen();
          handler.run();
          held = holder;
        });
    tell();
  }

  /** Makes the delivery of messages and requests wait, or not any more. */
  void pause(boolean whether) {
    change(() -> session.pause(whether));
    if (!whether) {
      link.later(this::tell);
    }
  }

  /** Sets when users should send no more, and when they should go on. */
  void watermarks(long low, long high) {
    change(() -> session.watermarks(low, high));
    link.later(this::tell);
  }

  private void change(Runnable withLock) {
    link.lock();
    try {
      withLock.run();
    } finally {
      link.unlock();
    }
  }

  /** Returns whether the calling thread runs a handler of this connection. */
  boolean isTelling() {
    return teller == Thread.currentThread();
  }

  /**
   * Notifies the user of all there is, unless another thread does: here, or where user code is to
   * run. Called without the lock.
   */
  void tell() {
    if (tellSome()) {
      link.later(this::tell);
    }
  }

  /**
   * Does what {@link #tell} does for a while, so that others get their turn; returns whether there
   * is more, for which the caller calls this again soon.
   */
  boolean tellSome() {
    if (!session.hasNews()) {
      return false;
    }
    if (elsewhere == null) {
      return tell(false);
    }
    if (!due) {
      dueSince = System.nanoTime();
      due = true;
      elsewhere.execute(tellHere);
    }
    return false;
  }

  /**
   * Gives the executor of the user again what it has not run for long: it may have dropped that.
   * Called at intervals.
   */
  void tellAgainIfDropped() {
    Executor handlers = elsewhere;
    if (handlers != null && due && System.nanoTime() - dueSince >= DROPPED_NANOS) {
      dueSince = System.nanoTime();
      link.log(
          Level.WARNING,
          "NodeConfig.handlers has not run user code for %d s, and gets it again: it must not drop what it is given"
              .formatted(TimeUnit.NANOSECONDS.toSeconds(DROPPED_NANOS)),
          null);
      // The executor may run it here.
      link.apart(() -> handlers.execute(tellHere));
    }
  }

  /**
   * Notifies the user of all there is, as {@link #tell} does, and then runs an action in the same
   * thread, which completes nothing that users see.
   */
  void tellLast(Runnable action) {
    Runnable last =
        () -> {
          var unused = tell(true);
          action.run();
        };
    if (elsewhere == null) {
      last.run();
    } else {
      elsewhere.execute(last);
    }
  }

  private void tellHere() {
    due = false;
    if (tell(false)) {
      // Not here, because an executor may run immediately what it is given.
      link.later(this::tell);
    }
  }

  /** Notifies the user of all there is, or for a while; returns whether there may be more. */
  private boolean tell(boolean all) {
    link.lock();
    try {
      if (teller != null) {
        return false;
      }
      teller = Thread.currentThread();
      try {
        time.begin();
        boolean more = tellNext();
        while (more && (all || !time.isOver())) {
          more = tellNext();
        }
        return more;
      } finally {
        teller = null;
      }
    } finally {
      link.unlock();
    }
  }

  private boolean tellNext() {
    switch (session.nextForUser()) {
      case NOTHING -> {
        return false;
      }
      case DONE -> tellOfDone();
      case WRITABILITY -> tellOfWritability(session.takeWritability());
      case ANSWER -> tellOfAnswer(session.takeAnswer());
      case REQUEST -> tellOfRequest(session.takeRequest());
      case MESSAGE -> tellOfMessage();
      case INPUT_END -> {
        session.takeInputEnd();
        // No code sees what a dependent of the future throws.
        var unused = unlocked(link.closing()::tellInputEnd);
      }
      case END -> tellOfEnd(session.takeEnd());
    }
    return true;
  }

  private void tellOfDone() {
    int count = 0;
    while (count < TOGETHER && session.nextForUser() == Delivery.DONE) {
      ended[count++] = session.takeDone();
    }
    link.unlock();
    try {
      for (int i = 0; i < count; i++) {
        tellOfDone(ended[i]);
      }
    } finally {
      link.lock();
      for (int i = 0; i < count; i++) {
        session.recycle(ended[i]);
      }
    }
  }

  /** Not with a lambda, so that this allocates nothing. */
  private void tellOfDone(Request request) {
    try {
      if (request.listener() instanceof OperationHandler handler) {
        handler.completed(request.token(), request.failure());
      } else if (request.listener() instanceof CompletableFuture<?> future) {
        complete(future, null, request.failure());
      }
    } catch (Throwable thrown) {
      link.handlerThrew("the handler of an operation", thrown);
    }
  }

  private static <T> boolean complete(
      CompletableFuture<T> future, @Nullable T result, @Nullable RuntimeException reason) {
    return reason == null ? future.complete(result) : future.completeExceptionally(reason);
  }

  private void tellOfWritability(boolean writable) {
    WritabilityHandler handler = writabilityHandler;
    if (handler == null) {
      throw new AssertionError("writability without a handler");
    }
    Throwable thrown = unlocked(() -> handler.changed(writable));
    if (thrown != null) {
      link.handlerThrew("the handler of writability", thrown);
    }
  }

  private void tellOfAnswer(Answer answer) {
    @SuppressWarnings("unchecked") // Sends adds no other listener.
    CompletableFuture<MessageBuffer> future = (CompletableFuture<MessageBuffer>) answer.listener();
    Buffer buffer = answer.buffer();
    // No code sees what a dependent of the future throws.
    var unused =
        unlocked(
            () -> {
              MessageBuffer message = buffer == null ? null : new MessageBuffer(buffer);
              if (!complete(future, message, answer.failure()) && message != null) {
                message.close();
              }
            });
  }

  private void tellOfRequest(Buffer buffer) {
    RequestHandler handler = requestHandler;
    if (handler == null) {
      throw new AssertionError("a request without a handler");
    }
    IncomingRequest request = new IncomingRequest(link, buffer.number(), new MessageBuffer(buffer));
    Throwable thrown = unlocked(() -> handler.received(request));
    if (thrown == null) {
      unanswered.add(request);
    } else {
      link.handlerThrew("the handler of requests", thrown);
      String message = thrown.getMessage();
      var unused =
          unlocked(() -> request.refuseIfUnanswered(message == null ? thrown.toString() : message));
    }
  }

  private void tellOfMessage() {
    MessageHandler handler = messageHandler;
    Throwable thrown = null;
    if (handler == null) {
      thrown = tellOfBytes();
    } else {
      Buffer message = session.pollMessage();
      if (message != null) {
        thrown = unlocked(() -> receive(handler, new MessageBuffer(message)));
      }
    }
    if (thrown != null) {
      String threw = "the handler of its messages";
      link.handlerThrew(threw, thrown);
      session.breakUp(threw + " threw " + thrown, thrown);
    }
  }

  /** A handler that throws may have dropped the message, for which further messages would wait. */
  private static void receive(MessageHandler handler, MessageBuffer message) {
    boolean returned = false;
    try {
      handler.received(message);
      returned = true;
    } finally {
      if (!returned) {
        message.close();
      }
    }
  }

  /** Delivers several messages with one lock; returns what the handler has thrown. */
  private @Nullable Throwable tellOfBytes() {
    Consumer<ByteBuffer> handler = bytesHandler;
    LongConsumer ofNotices = noticeHandler;
    if (handler == null || ofNotices == null) {
      throw new AssertionError("a message without a handler");
    }
    int count = 0;
    while (count < TOGETHER && session.peekMessage() != null) {
      told[count++] = session.takeMessages();
    }
    int done = 0;
    Throwable thrown = null;
    link.unlock();
    try {
      // A handler may set another one, and close the connection.
      boolean goesOn = true;
      while (done < count && goesOn) {
        Buffer next = told[done];
        thrown = tellOfBytes(next, handler, ofNotices);
        boolean isHeldUp = false;
        if (next.hasNext()) {
          next.toNext();
          isHeldUp = !session.mayDeliver(next);
        } else {
          done++;
        }
        goesOn =
            thrown == null
                && !isHeldUp
                && bytesHandler == handler
                && !session.isPaused()
                && !session.isDiscarded()
                && !time.isOver();
      }
    } finally {
      link.lock();
      for (int i = count - 1; i >= done; i--) {
        session.putBack(told[i]);
      }
      link.receives().free(told, done);
    }
    return thrown;
  }

  /** Not with a lambda, so that this allocates nothing. */
  private static @Nullable Throwable tellOfBytes(
      Buffer message, Consumer<ByteBuffer> handler, LongConsumer ofNotices) {
    try {
      LockOrder.checkBeforeUserCode();
      if (message.kind() == MessageKind.NOTICE) {
        ofNotices.accept(message.number());
      } else {
        handler.accept(message.readOnlyMessage());
      }
      return null;
    } catch (Throwable thrown) {
      return thrown;
    }
  }

  private void tellOfEnd(@Nullable RuntimeException reason) {
    // No code sees what a dependent of the future throws.
    var unused = unlocked(() -> link.closing().tell(reason));
  }

  /**
   * Runs user code without the lock; returns what it threw, which may be a checked exception if
   * another language than Java allowed that.
   */
  private @Nullable Throwable unlocked(Runnable code) {
    link.unlock();
    try {
      LockOrder.checkBeforeUserCode();
      code.run();
      return null;
    } catch (Throwable thrown) {
      return thrown;
    } finally {
      link.lock();
    }
  }
}
