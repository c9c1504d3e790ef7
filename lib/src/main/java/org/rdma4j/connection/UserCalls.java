package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What the users of one connection must be told: operations that are done, requests and answers
 * that have arrived, and messages if there is a handler of them. One thread at a time tells them,
 * in the order in which it happened, and without the lock of the connection.
 *
 * <p>The lock of the connection guards this. Except for {@link #tell}, every method requires it.
 */
final class UserCalls {
  private final Link link;
  private final ReentrantLock lock;
  private final SendQueue sends;
  private final Inbox inbox;
  private final PendingRequests requests = new PendingRequests();

  /** The operations that are done. */
  private final Deque<Outgoing> finished = new ArrayDeque<>();

  /** The requests that have arrived, which wait until there is a handler of them. */
  private final Deque<Slot> arrivedRequests = new ArrayDeque<>();

  /** The answers that have arrived. */
  private final Deque<Slot> arrivedAnswers = new ArrayDeque<>();

  /** Tells of the end of the connection, after all else; null if it has not ended, or was told. */
  private @Nullable Runnable end;

  private final UnansweredRequests unanswered;

  /** Whether there may be something to tell. Written with the lock. */
  private volatile boolean news;

  /** The thread that tells users; null if none does. */
  private @Nullable Thread teller;

  /** At most one of these two is there. */
  private @Nullable MessageHandler messageHandler;

  private @Nullable Consumer<ByteBuffer> bytesHandler;

  /** Is there if the handler of bytes is. */
  private @Nullable LongConsumer noticeHandler;

  private @Nullable RequestHandler requestHandler;

  /** Creates one with nothing to tell. */
  UserCalls(Link link, ReentrantLock lock, SendQueue sends, Inbox inbox) {
    this.link = link;
    this.lock = lock;
    this.sends = sends;
    this.inbox = inbox;
    this.unanswered = new UnansweredRequests(link);
  }

  /** Refuses the requests that the program has dropped. Called at intervals. */
  void refuseDropped() {
    unanswered.refuseDropped();
  }

  void handleMessages(MessageHandler handler) {
    messageHandler = handler;
    bytesHandler = null;
    news = true;
  }

  void handleMessageBytes(Consumer<ByteBuffer> handler, LongConsumer ofNotices) {
    bytesHandler = handler;
    noticeHandler = ofNotices;
    messageHandler = null;
    news = true;
  }

  boolean handlesMessages() {
    return messageHandler != null || bytesHandler != null;
  }

  void handleRequests(RequestHandler handler) {
    requestHandler = handler;
    news = true;
  }

  /** Adds a request to the peer, and returns its number. */
  long addRequest(CompletableFuture<MessageBuffer> answer) {
    return requests.add(answer);
  }

  /** Returns the number of unanswered requests. */
  int pendingRequests() {
    return requests.size();
  }

  /** Removes all unanswered requests, and returns the futures of their answers. */
  List<CompletableFuture<MessageBuffer>> removeRequests() {
    return requests.removeAll();
  }

  /** Notes that an operation is done, which has a handler or a future. */
  void finished(Outgoing operation) {
    finished.addLast(operation);
    news = true;
  }

  /** Notes that a request or an answer has arrived. */
  void arrived(Slot message) {
    (message.kind() == MessageKind.REQUEST ? arrivedRequests : arrivedAnswers).addLast(message);
    news = true;
  }

  /** Notes that the connection has ended, of which users are told after all that came before. */
  void ended(Runnable tellOfEnd) {
    end = tellOfEnd;
    news = true;
  }

  /** Notes that the next message of the inbox may be there. */
  void messageArrived() {
    if (handlesMessages()) {
      news = true;
    }
  }

  /** Removes the requests and answers that have arrived and that nobody was told of. */
  List<Slot> removeArrived() {
    List<Slot> all = new ArrayList<>(arrivedRequests);
    all.addAll(arrivedAnswers);
    arrivedRequests.clear();
    arrivedAnswers.clear();
    return all;
  }

  /** Returns whether the calling thread runs a handler of this connection. */
  boolean isTelling() {
    return teller == Thread.currentThread();
  }

  /** Returns whether there may be something to tell. Needs no lock. */
  boolean hasNews() {
    return news;
  }

  /** Tells users all there is, unless another thread does. Called without the lock. */
  void tell() {
    if (!news) {
      return;
    }
    lock.lock();
    try {
      if (teller != null) {
        return;
      }
      teller = Thread.currentThread();
      try {
        while (tellNext()) {}
        news = false;
      } finally {
        teller = null;
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean tellNext() {
    Outgoing done = finished.pollFirst();
    if (done != null) {
      tell(done);
      return true;
    }
    Slot answer = arrivedAnswers.pollFirst();
    if (answer != null) {
      tellOfAnswer(answer);
      return true;
    }
    RequestHandler ofRequests = requestHandler;
    Slot request = ofRequests == null ? null : arrivedRequests.pollFirst();
    if (ofRequests != null && request != null) {
      tellOfRequest(request, ofRequests);
      return true;
    }
    Slot message = handlesMessages() ? inbox.poll() : null;
    if (message == null) {
      return tellOfEnd();
    }
    MessageHandler handler = messageHandler;
    Consumer<ByteBuffer> ofBytes = bytesHandler;
    LongConsumer ofNotices = noticeHandler;
    Throwable thrown = null;
    if (handler != null) {
      thrown = unlocked(() -> handler.received(new MessageBuffer(message)));
    } else if (ofBytes != null && ofNotices != null) {
      thrown = tellOfBytes(message, ofBytes, ofNotices);
    }
    if (thrown != null) {
      link.handlerFailed("the handler of its messages threw ", thrown);
    }
    return true;
  }

  private boolean tellOfEnd() {
    Runnable toldOfEnd = end;
    if (toldOfEnd == null
        || (handlesMessages() && !inbox.isEmpty() && link.ending().mayReceive())) {
      return false;
    }
    end = null;
    unlocked(toldOfEnd);
    return true;
  }

  /** Not with a lambda, so that this allocates nothing. */
  private @Nullable Throwable tellOfBytes(
      Slot message, Consumer<ByteBuffer> handler, LongConsumer ofNotices) {
    lock.unlock();
    try {
      if (message.kind() == MessageKind.NOTICE) {
        ofNotices.accept(message.number());
      } else {
        handler.accept(message.readOnlyMessage());
      }
      return null;
    } catch (Throwable thrown) {
      return thrown;
    } finally {
      message.free();
      lock.lock();
    }
  }

  private void tell(Outgoing done) {
    OperationHandler handler = done.handler;
    CompletableFuture<Void> future = done.future;
    RuntimeException reason = done.failure;
    long token = done.token;
    sends.recycle(done);
    Throwable thrown = null;
    if (future != null) {
      thrown = unlocked(() -> complete(future, reason));
    } else if (handler != null) {
      lock.unlock();
      try {
        // Not a lambda, so that this allocates nothing.
        handler.completed(token, reason);
      } catch (Throwable exception) {
        thrown = exception;
      } finally {
        lock.lock();
      }
    }
    if (thrown != null) {
      link.log(Level.WARNING, "the handler of an operation threw an exception", thrown);
    }
  }

  private static void complete(CompletableFuture<Void> future, @Nullable RuntimeException reason) {
    if (reason == null) {
      future.complete(null);
    } else {
      future.completeExceptionally(reason);
    }
  }

  private void tellOfRequest(Slot call, RequestHandler handler) {
    IncomingRequest request = new IncomingRequest(link, call.number(), new MessageBuffer(call));
    Throwable thrown = unlocked(() -> handler.received(request));
    if (thrown == null) {
      unanswered.add(request);
    } else {
      link.log(Level.WARNING, "the handler of requests threw an exception", thrown);
      String message = thrown.getMessage();
      unlocked(() -> request.refuseIfUnanswered(message == null ? thrown.toString() : message));
    }
  }

  private void tellOfAnswer(Slot call) {
    CompletableFuture<MessageBuffer> answer = requests.remove(call.number());
    if (answer == null) {
      long number = call.number();
      call.leavePlace();
      call.free();
      link.violated("it answered the request " + number + ", which does not wait for an answer");
      return;
    }
    // An answer occupies no place: this side has made no more requests than it wants answers.
    link.leavePlace(call);
    if (call.kind() == MessageKind.REFUSAL) {
      String reason = PrintableText.of(call.message());
      call.free();
      unlocked(() -> answer.completeExceptionally(link.refused(reason)));
    } else {
      unlocked(
          () -> {
            MessageBuffer buffer = new MessageBuffer(call);
            if (!answer.complete(buffer)) {
              buffer.close();
            }
          });
    }
  }

  /**
   * Runs user code without the lock; returns what it threw, which may be a checked exception if
   * another language than Java allowed that.
   */
  private @Nullable Throwable unlocked(Runnable code) {
    lock.unlock();
    try {
      code.run();
      return null;
    } catch (Throwable thrown) {
      return thrown;
    } finally {
      lock.lock();
    }
  }
}
