package org.rdma4j.connection.session;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;

/**
 * The pending notifications of the user of a connection: requests that are done, answers and
 * requests that have arrived, messages if there is a handler of them, and at last the end.
 */
final class Deliveries {
  private final Inbox inbox;
  private final Unpacking unpacking;
  private final Backlog backlog;
  private final PendingRequests pending = new PendingRequests();
  private final Deque<Request> done = new ArrayDeque<>();
  private final Deque<Answer> answers = new ArrayDeque<>();

  /** The requests of the peer, which wait until there is a handler of them. */
  private final Deque<Buffer> requests = new ArrayDeque<>();

  private boolean wantsMessages;

  /** Whether each is to be in a buffer of its own. */
  private boolean holdsMessages;

  private boolean wantsRequests;
  private boolean wantsWritability;

  /** Whether messages and requests wait until the user wants them again. Read without the lock. */
  private volatile boolean paused;

  private boolean inputEnded;
  private boolean ended;
  private @Nullable RuntimeException endReason;

  /** Whether there may be something to tell. Read without the lock. */
  private volatile boolean news;

  Deliveries(Inbox inbox, Unpacking unpacking, Backlog backlog) {
    this.inbox = inbox;
    this.unpacking = unpacking;
    this.backlog = backlog;
  }

  void wantMessages(boolean toHold) {
    wantsMessages = true;
    holdsMessages = toHold;
    news = true;
  }

  boolean wantsMessages() {
    return wantsMessages;
  }

  void wantRequests() {
    wantsRequests = true;
    news = true;
  }

  void wantWritability() {
    wantsWritability = true;
    news = true;
  }

  /** Makes messages and requests wait, or not any more. */
  void pause(boolean whether) {
    paused = whether;
    news = true;
  }

  boolean isPaused() {
    return paused;
  }

  /** Records that {@link Backlog} may have changed. */
  void writabilityChanged() {
    if (wantsWritability && backlog.hasNews()) {
      news = true;
    }
  }

  PendingRequests pending() {
    return pending;
  }

  void finished(Request request) {
    done.addLast(request);
    news = true;
  }

  void answered(Answer answer) {
    answers.addLast(answer);
    news = true;
  }

  /** Ends all requests to the peer that have no answer. */
  void failPending(RuntimeException reason) {
    for (Object listener : pending.removeAll()) {
      answered(new Answer(listener, null, reason));
    }
  }

  void requestArrived(Buffer request) {
    requests.addLast(request);
    news = true;
  }

  /** Records that the next message of the inbox may be there. */
  void messageArrived() {
    if (wantsMessages) {
      news = true;
    }
  }

  /** Records that the peer sends nothing more. */
  void inputEnded() {
    inputEnded = true;
    news = true;
  }

  /** Records that the connection has ended, with the reason if it is not the regular end. */
  void ended(@Nullable RuntimeException reason) {
    ended = true;
    endReason = reason;
    news = true;
  }

  boolean hasNews() {
    return news;
  }

  /**
   * Returns what comes next.
   *
   * @param mayReceive whether what is being fetched may still arrive
   */
  Delivery next(boolean mayReceive) {
    if (!done.isEmpty()) {
      return Delivery.DONE;
    }
    if (wantsWritability && backlog.hasNews()) {
      return Delivery.WRITABILITY;
    }
    if (!answers.isEmpty()) {
      return Delivery.ANSWER;
    }
    if (wantsRequests && !paused && !requests.isEmpty()) {
      return Delivery.REQUEST;
    }
    Buffer message = wantsMessages ? inbox.peek() : null;
    if (message != null && !paused && mayDeliver(message)) {
      return Delivery.MESSAGE;
    }
    boolean lacksMessages = wantsMessages && !inbox.isEmpty();
    if (inputEnded && !lacksMessages) {
      return Delivery.INPUT_END;
    }
    if (ended && !(lacksMessages && (mayReceive || message != null))) {
      return Delivery.END;
    }
    news = false;
    return Delivery.NOTHING;
  }

  private boolean mayDeliver(Buffer message) {
    return holdsMessages ? unpacking.mayTake(message) : unpacking.mayDeliver(message);
  }

  /** Takes a message or a request that no handler wants; null if there is none. */
  @Nullable Buffer pollUnwanted() {
    Buffer message = wantsMessages ? null : inbox.poll();
    return message == null && !wantsRequests ? requests.pollFirst() : message;
  }

  Request takeDone() {
    return done.removeFirst();
  }

  Answer takeAnswer() {
    return answers.removeFirst();
  }

  Buffer takeRequest() {
    return requests.removeFirst();
  }

  void takeInputEnd() {
    inputEnded = false;
  }

  @Nullable RuntimeException takeEnd() {
    RuntimeException reason = endReason;
    ended = false;
    endReason = null;
    return reason;
  }

  /** Frees the answers and the requests of the peer of which the user was not notified. */
  void discard(RuntimeException reason) {
    for (int i = answers.size(); i > 0; i--) {
      Answer each = answers.removeFirst();
      if (each.buffer() != null) {
        each.buffer().free();
        each = new Answer(each.listener(), null, reason);
      }
      answers.addLast(each);
    }
    while (!requests.isEmpty()) {
      Buffer each = requests.removeFirst();
      each.leaveWindow();
      each.free();
    }
  }
}
