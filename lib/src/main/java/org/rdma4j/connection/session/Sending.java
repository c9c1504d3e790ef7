package org.rdma4j.connection.session;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;

/**
 * The requests of one connection, in their order: first requests that wait for a credit or for a
 * free slot in the queue of the device, then requests that the device has.
 */
final class Sending {
  private final String connection;
  private final Credits credits;
  private final PromisedReceives promises;
  private final BufferPool pool;
  private final Answers answers;
  private final UserMemory userMemory;
  private final int depth;
  private final Deliveries deliveries;
  private final Counts counts;
  private final Backlog backlog;

  private final Deque<Request> waiting = new ArrayDeque<>();

  /**
   * The reads of what the peer has offered. They do not wait behind messages: if both sides have
   * messages that wait until their offers are fetched, neither would fetch any.
   */
  private final Deque<Request> fetches = new ArrayDeque<>();

  /** The binds and invalidates, which wait only for a slot in the queue of the device. */
  private final Deque<Request> windowRequests = new ArrayDeque<>();

  /** The offer that follows its bind in the chain that is being built; null if none does. */
  private @Nullable Request bound;

  /** The requests to be posted ahead of all that waits, also by a connection that is broken. */
  private final Deque<Request> ahead = new ArrayDeque<>();

  private final Deque<Request> posted = new ArrayDeque<>();

  /** The requests that the device did not accept. */
  private final Deque<Request> refused = new ArrayDeque<>();

  /** The posted offers that the peer has still to fetch, or to report as fetched; in order. */
  private final Deque<Request> offers = new ArrayDeque<>();

  /** The offers whose exposures no request ends. */
  private final Deque<Request> revocable = new ArrayDeque<>();

  /** Those of which {@link Exposure#end} is being called. */
  private final Deque<Request> revoking = new ArrayDeque<>();

  private final Deque<Request> spare = new ArrayDeque<>();

  /** The number of the first request in {@link #posted}, and of the next to be posted. */
  private long firstPosted;

  private long nextPosted;

  /** The number of requests that were taken for the chain that is being built. */
  private int chain;

  /** Whether others may join the message that waits last. Also read without the lock. */
  private boolean joinable;

  /** The number of waiting requests that need a credit. */
  private int waitingForCredit;

  /** The number of waiting requests that are offers. */
  private int waitingOffers;

  /** The number of fetched offers that the next message has to report to the peer. */
  private int fetched;

  /** The number of posted messages of the protocol itself. */
  private int controls;

  /** Whether the peer has one receive for them: {@link Hello#ONE_RECEIVE}. */
  private boolean oneReceive;

  /** Whether the last one was not confirmed, so that the peer may have no receive for another. */
  private boolean unread;

  /** Whether the next message has to say that the last one of the peer was read. */
  private boolean readUntold;

  /** The credits that the next message carries in addition to owed ones. */
  private int alreadyGranted;

  /** Whether the peer lacks credits because there are no receives for it. */
  private boolean starved;

  /** Whether the next request waits for a receive. */
  private boolean lacksReceive;

  /** Creates the requests of a connection, which are none. */
  Sending(
      String connection,
      Credits credits,
      PromisedReceives promises,
      BufferPool pool,
      Answers answers,
      UserMemory userMemory,
      int depth,
      Deliveries deliveries,
      Counts counts,
      Backlog backlog) {
    this.connection = connection;
    this.credits = credits;
    this.promises = promises;
    this.pool = pool;
    this.answers = answers;
    this.userMemory = userMemory;
    this.depth = depth;
    this.deliveries = deliveries;
    this.counts = counts;
    this.backlog = backlog;
  }

  Request newRequest() {
    Request known = spare.pollLast();
    return known == null ? new Request() : known;
  }

  void recycle(Request request) {
    request.clear();
    spare.addLast(request);
  }

  /** Adds a request to the waiting ones, unless its memory cannot be used: then it throws. */
  void add(Request request) {
    if (request.usesMemory()) {
      userMemory.begin(request.local());
    }
    request.begin();
    request.heldBytes = request.memoryBytes();
    backlog.add(request.heldBytes);
    deliveries.writabilityChanged();
    waiting.addLast(request);
    joinable = request.isJoinable();
    waitingForCredit += request.takesCredit() ? 1 : 0;
    waitingOffers += request.isOffer() ? 1 : 0;
    if (request.isAnswer()) {
      answers.add(request.offered);
    }
  }

  /** Says that the peer has one receive for messages of the protocol itself. */
  void takeOneReceive() {
    oneReceive = true;
  }

  /**
   * Records that a message of the protocol has taken the receive for it.
   *
   * @return whether it may; not if the peer was not told that the last one was read
   */
  boolean readProtocol() {
    boolean may = !readUntold;
    readUntold = true;
    return may;
  }

  /**
   * Records that the peer has read the last message of the protocol.
   *
   * @return whether there was one
   */
  boolean readByPeer() {
    boolean was = unread;
    unread = false;
    return was;
  }

  /** Returns whether the peer has a receive for the last message. */
  boolean mayEnd() {
    return !oneReceive || !unread || credits.available() > 0;
  }

  /** Returns whether a message may join another. Without the lock, that may be out of date. */
  boolean isJoinable() {
    return joinable;
  }

  /**
   * Lets a message join the last waiting message.
   *
   * @param most the length of what is sent together at most
   * @param now whether only one for which the peer has room
   * @return whether it has joined
   */
  boolean tryJoin(
      ByteBuffer message, long most, boolean now, @Nullable Object listener, long token) {
    Request last = waiting.peekLast();
    int bytes = message.remaining();
    if (last == null
        || !last.isJoinable()
        || last.buffer().length() + MessageHeader.LENGTH_BYTES + bytes > most
        || (now && !hasRoomForWaiting())) {
      return false;
    }
    last.join(message);
    if (listener != null || Request.isRecorded()) {
      Request joined = newRequest();
      joined.tell(listener, token);
      last.endsWithThis(joined, bytes);
      joined.begin();
    }
    return true;
  }

  /** Returns whether all that waits could be posted without waiting for the peer. */
  private boolean hasRoomForWaiting() {
    return credits.available() >= waitingForCredit
        && offers.size() + waitingOffers <= Offer.MAX_UNFETCHED;
  }

  /** Returns what is wrong if handlers have sent too much; null if nothing is. */
  @Nullable String checkAnswers() {
    return answers.check();
  }

  /** Adds a request that goes ahead of all that waits. */
  void addAhead(Request request) {
    request.begin();
    ahead.addLast(request);
  }

  /** Adds the begin of an exposure, which goes ahead of all that waits. */
  void addBind(Request bind) {
    windowRequests.addLast(bind);
  }

  /** Adds the reads that fetch an offered piece of a message. */
  void fetch(Offer offer, Incoming message) {
    long read = 0;
    while (read < offer.length()) {
      long length = Math.min(Request.MAX_TRANSFER, offer.length() - read);
      Request next = newRequest();
      next.fetch(message, offer.offset() + read, length, offer.address() + read, offer.key());
      read += length;
      next.lastOfOffer = read == offer.length();
      next.begin();
      fetches.addLast(next);
    }
  }

  boolean hasRoomForMessage() {
    if (credits.available() <= waitingForCredit) {
      // What asks has something to send.
      credits.lacked();
      return false;
    }
    return waiting.size() < depth && offers.size() + waitingOffers < Offer.MAX_UNFETCHED;
  }

  boolean hasRoom() {
    return waiting.size() < depth;
  }

  int outstanding() {
    return windowRequests.size()
        + fetches.size()
        + waiting.size()
        + posted.size()
        + offers.size()
        + revocable.size()
        + revoking.size();
  }

  /** Returns whether anything that the user has sent or begun is not done. */
  boolean hasRequestsOfUser() {
    for (Deque<Request> each : List.of(waiting, posted, offers)) {
      for (Request request : each) {
        if (request.isOfUser()) {
          return true;
        }
      }
    }
    return false;
  }

  int postedCount() {
    return posted.size() + ahead.size();
  }

  /** Returns whether the device is so busy that it is better to collect requests for a chain. */
  boolean shouldCollect() {
    return isBusy() && 4 * waiting.size() < depth;
  }

  /** Returns whether the device has at least half of the requests that it can have. */
  boolean isBusy() {
    return 2 * posted.size() >= depth;
  }

  /** Returns whether anything waits because there are no receives. */
  boolean isStarved() {
    return starved || lacksReceive;
  }

  /** Begins to build a chain. */
  void beginChain() {
    chain = 0;
    starved = false;
    lacksReceive = false;
  }

  /** Takes a request that goes ahead of all that waits; null if there is none. */
  @Nullable Request nextAhead() {
    return ahead.isEmpty() ? null : post(ahead.removeFirst());
  }

  /**
   * Takes the next request for the chain: binds and invalidates, the fetches, then the waiting
   * requests in their order, and credits alone if they are due and no message carries them; null if
   * there is none.
   */
  @Nullable Request next() {
    Request offer = bound;
    if (offer != null) {
      bound = null;
      return post(offer);
    }
    int slots = depth + controls - posted.size();
    if (slots > 0) {
      if (!windowRequests.isEmpty()) {
        return post(windowRequests.removeFirst());
      }
      if (!fetches.isEmpty()) {
        return post(fetches.removeFirst());
      }
      endThoseWithoutMemory();
      Request next = waiting.peekFirst();
      if (next != null && (slots > 1 || !next.isToBind()) && mayPost(next)) {
        return postNow(takeWaiting());
      }
    }
    return chain == 0 && controls < Session.CONTROL_SENDS - 1 ? nextControl() : null;
  }

  /** Posts a request; of an offer whose memory is to be bound, the bind, which it follows. */
  private Request postNow(Request request) {
    if (!request.isToBind()) {
      return post(request);
    }
    request.exposed = true;
    bound = request;
    Request bind = newRequest();
    bind.bind(request.exposure());
    return post(bind);
  }

  private boolean mayPost(Request request) {
    if (request.takesCredit() && credits.available() == 0) {
      credits.lacked();
      return false;
    }
    if (!request.isOffer()) {
      return !request.isLast() || mayEnd();
    }
    if (offers.size() == Offer.MAX_UNFETCHED) {
      return false;
    }
    // The peer reports in a message that it has fetched an offer, which takes a receive. If waiting
    // messages have all buffers, the first offer gets one beyond the maximum: it frees others.
    lacksReceive = !(offers.isEmpty() ? promises.addOne() : promises.add(1));
    return !lacksReceive;
  }

  private @Nullable Request nextControl() {
    if (oneReceive && unread && fetched == 0) {
      // The peer has a credit that came with the last one, and says that it was read when it sends.
      return null;
    }
    int granted = alreadyGranted + (credits.isDue() ? grantOwed() : 0);
    // While many offers are fetched, one message reports several. Requests that the device has will
    // complete, which leads here again.
    if (granted == 0 && (fetched == 0 || 2 * fetched < posted.size())) {
      return null;
    }
    alreadyGranted = granted;
    Buffer empty = pool.tryTakeForProtocol();
    if (empty == null) {
      // The next message carries them, or a later flush finds a buffer.
      return null;
    }
    empty.become(MessageKind.CONTROL, 0, 0);
    Request control = newRequest();
    control.send(MessageKind.CONTROL, 0, 0, empty);
    return post(control);
  }

  /** Grants the peer, with the next message, the credits of which its hello told nothing. */
  void grantFirstCredits() {
    alreadyGranted = Credits.FIRST_WINDOW;
  }

  /** Gives back the credits that this side does not use. */
  void giveBackCredits() {
    Buffer empty = credits.hasSurplus() ? pool.tryTakeForProtocol() : null;
    if (empty != null) {
      giveBack(credits.giveBack(), empty);
    }
  }

  private void giveBack(int returned, Buffer empty) {
    empty.become(MessageKind.RETURN, 0, 0);
    Request message = newRequest();
    message.send(MessageKind.RETURN, 0, returned, empty);
    add(message);
  }

  /**
   * Says that the last message of the protocol was read, if the peer has no credit, and so could
   * not say that it closes. What is sent for that takes a credit, because another message of the
   * protocol would have to be read as well.
   */
  void tellRead() {
    if (!readUntold || credits.granted() > 0 || credits.available() == 0 || !waiting.isEmpty()) {
      return;
    }
    Buffer empty = pool.tryTakeForProtocol();
    if (empty != null) {
      giveBack(0, empty);
    }
  }

  /** Ends the next requests if their memory was closed meanwhile. */
  private void endThoseWithoutMemory() {
    Request next = waiting.peekFirst();
    RuntimeException closed = next == null ? null : next.closedMemory(userMemory);
    while (closed != null) {
      Request ended = takeWaiting();
      boolean isNotified = ended.isNotified();
      end(ended, closed);
      if (isNotified) {
        // The peer must not be notified of what was not written.
        end(takeWaiting(), closed);
      }
      next = waiting.peekFirst();
      closed = next == null ? null : next.closedMemory(userMemory);
    }
  }

  private Request takeWaiting() {
    Request next = waiting.removeFirst();
    joinable &= !waiting.isEmpty();
    waitingForCredit -= next.takesCredit() ? 1 : 0;
    waitingOffers -= next.isOffer() ? 1 : 0;
    return next;
  }

  private Request post(Request request) {
    boolean complete = false;
    try {
      describe(request);
      complete = true;
    } finally {
      if (!complete) {
        // The receives that its header grants were refused: the connection breaks, and ends it.
        refused.addLast(request);
      }
    }
    request.postNumber = nextPosted++;
    posted.addLast(request);
    chain++;
    return request;
  }

  private void describe(Request request) {
    switch (request.operation()) {
      case SEND -> writeHeader(request);
      case READ -> {
        counts.reads++;
        counts.readBytes += request.bytes();
      }
      case WRITE -> {
        counts.writes++;
        counts.writtenBytes += request.bytes();
      }
      case COMPARE_AND_SWAP, FETCH_AND_ADD -> counts.atomics++;
      // The bytes of a message that is fetched are counted as those of a message.
      case FETCH, PING, BIND, INVALIDATE -> {}
    }
  }

  private void writeHeader(Request request) {
    Buffer buffer = request.buffer();
    int granted = alreadyGranted + grantOwed();
    alreadyGranted = 0;
    if (request.isControl()) {
      controls++;
      takeReceive(request);
    } else {
      credits.spend();
      counts.sentMessages += request.kind().isOfUser() ? request.messages() : 0;
      counts.sentBytes += request.isOffer() ? 0 : request.messageBytes();
    }
    int told = Math.min(fetched, MessageHeader.MAX_COUNT);
    fetched -= told;
    long header = buffer.payload() - MessageHeader.BYTES;
    int flags = request.flags();
    if (request.kind().takesCredit() && credits.takeLacked()) {
      flags |= MessageHeader.LACKED_CREDIT;
    }
    if (readUntold && oneReceive) {
      flags |= MessageHeader.PROTOCOL_READ;
      readUntold = false;
    }
    MessageHeader.write(
        buffer.segment(), header, request.kind(), flags, granted, told, request.number());
    request.completeHeader(buffer.segment(), header);
    if (request.isOffer()) {
      offers.addLast(request);
    }
  }

  /** Takes the receive that the peer has for a message of the protocol. */
  private void takeReceive(Request control) {
    if (!oneReceive || (fetched > 0 && !control.isLast())) {
      // What reports a fetched offer takes the receive that was set aside with the offer.
      return;
    }
    if (unread) {
      credits.spend();
    }
    unread = true;
  }

  /** Grants the peer as many credits as it can have, and returns their number. */
  private int grantOwed() {
    int owed = Math.min(credits.owed(), MessageHeader.MAX_COUNT);
    if (owed == 0 || answers.takeShare()) {
      return 0;
    }
    if (!promises.add(owed)) {
      // Others need receives too: fewer of them, and at the next try.
      credits.shrink();
      owed = promiseFew(credits.owed());
      starved = owed == 0 && credits.owed() > 0;
    }
    credits.grant(owed);
    return owed;
  }

  /** Promises so many receives, or one if there are not so many; returns how many. */
  private int promiseFew(int receives) {
    if (receives == 0 || promiseOrNeeded(receives)) {
      return receives;
    }
    return receives > 1 && promiseOrNeeded(1) ? 1 : 0;
  }

  private boolean promiseOrNeeded(int receives) {
    return credits.granted() == 0 ? promises.addNeeded(receives) : promises.add(receives);
  }

  /** Takes back the last of the posted requests, which the device did not accept. */
  void notAccepted(int count, RuntimeException reason) {
    if (bound != null) {
      refused.addFirst(bound);
      bound = null;
    }
    // None of them is left if the connection was closed meanwhile.
    for (int i = 0; i < count && !posted.isEmpty(); i++) {
      Request request = leave(posted.removeLast());
      nextPosted--;
      removeOffer(request);
      request.failure = reason;
      refused.addFirst(request);
    }
  }

  /** Returns whether the oldest posted request has this number. */
  boolean isFirst(long number) {
    return firstPosted == number;
  }

  /** Returns whether the next posted request is at or before that of a completion. */
  boolean hasPostedUntil(long number) {
    return firstPosted <= number && !posted.isEmpty();
  }

  /** Takes the next request that the device has done. */
  Request takePosted() {
    firstPosted++;
    return leave(posted.removeFirst());
  }

  /** Records that the device does not have a request any more, and returns it. */
  private Request leave(Request request) {
    if (request.isControl()) {
      controls--;
    }
    return request;
  }

  /**
   * Records that a request was done: an offer is not done before it is fetched, and its memory is
   * not exposed any more.
   *
   * @param over why the peer fetches nothing any more; null if it may
   */
  void completed(Request request, @Nullable RuntimeException over) {
    if (request.operation() == Request.Operation.INVALIDATE) {
      request.exposure().release();
      finish(request.offer(), null);
      recycle(request);
    } else if (!request.isOffer() || request.fetched) {
      end(request, null);
    } else if (over != null) {
      failed(request, over);
    } else {
      freeCarrier(request);
    }
  }

  private static void freeCarrier(Request request) {
    if (request.buffer != null) {
      request.buffer.free();
      request.buffer = null;
    }
  }

  /** Records that a request has failed. */
  void failed(Request request, RuntimeException reason) {
    removeOffer(request);
    end(request, reason);
  }

  /** Ends a request once no peer can access its memory any more. */
  private void end(Request request, @Nullable RuntimeException reason) {
    if (request.operation() == Request.Operation.INVALIDATE) {
      // Its offer was fetched all the same.
      revocable.addLast(request.offer());
      recycle(request);
    } else if (request.isOffer()) {
      endExposure(request, reason);
    } else {
      finish(request, reason);
    }
  }

  private void endExposure(Request offer, @Nullable RuntimeException reason) {
    freeCarrier(offer);
    offer.failure = reason;
    Exposure exposure = offer.exposure();
    if (!exposure.isBound() || (offer.exposed && reason != null)) {
      revocable.addLast(offer);
    } else if (offer.exposed) {
      Request invalidate = newRequest();
      invalidate.invalidate(offer);
      windowRequests.addLast(invalidate);
    } else {
      exposure.release();
      finish(offer, reason);
    }
  }

  /** Gives up the invalidates that have not been posted, because none can be any more. */
  void abandonInvalidates() {
    for (int i = windowRequests.size(); i > 0; i--) {
      Request next = windowRequests.removeFirst();
      if (next.operation() == Request.Operation.INVALIDATE) {
        end(next, null);
      } else {
        windowRequests.addLast(next);
      }
    }
  }

  /** Takes an offer of which to call {@link Exposure#end}; null if there is none. */
  @Nullable Request takeRevocable() {
    Request next = revocable.pollFirst();
    if (next != null) {
      revoking.addLast(next);
    }
    return next;
  }

  /** Records that no peer can access the memory of an offer any more. */
  void revoked(Request offer) {
    if (revoking.remove(offer)) {
      finish(offer, offer.failure);
    }
  }

  private void removeOffer(Request request) {
    if (request.isOffer()) {
      offers.remove(request);
    }
  }

  /** Records that an offer of the peer was fetched, of which it has to be notified. */
  void offerFetched() {
    fetched++;
  }

  /**
   * Records that the peer has fetched the next offers.
   *
   * @return whether there were so many
   */
  boolean fetchedByPeer(int count) {
    for (int i = 0; i < count; i++) {
      Request offer = offers.pollFirst();
      if (offer == null) {
        return false;
      }
      promises.withdraw(1);
      offer.fetched = true;
      if (offer.buffer == null) {
        end(offer, null);
      } // Otherwise its own completion is still to come, with that of a later request.
    }
    return true;
  }

  /** Ends all that the device does not have, and all that waits for the peer. */
  void failAll(RuntimeException reason) {
    Request next = pollUnposted();
    while (next != null) {
      end(next, reason);
      next = pollUnposted();
    }
  }

  /**
   * Does what {@link #failAll} does, except for fetches, for which the peer waits, and for binds
   * and invalidates.
   */
  void failMessages(RuntimeException reason) {
    Deque<Request> keptFetches = new ArrayDeque<>(fetches);
    Deque<Request> kept = new ArrayDeque<>(windowRequests);
    fetches.clear();
    windowRequests.clear();
    failAll(reason);
    fetches.addAll(keptFetches);
    windowRequests.addAll(kept);
  }

  /** Ends all requests, also requests that the device has. */
  void discard(RuntimeException reason) {
    failAll(reason);
    for (Deque<Request> each : List.of(ahead, posted)) {
      while (!each.isEmpty()) {
        failed(each.removeFirst(), reason);
      }
    }
    failAll(reason);
    revoking.addAll(revocable);
    revocable.clear();
    while (!revoking.isEmpty()) {
      Request next = revoking.getFirst();
      next.exposure().end();
      revoked(next);
    }
  }

  private @Nullable Request pollUnposted() {
    if (!refused.isEmpty()) {
      return refused.removeFirst();
    }
    if (!windowRequests.isEmpty()) {
      return windowRequests.removeFirst();
    }
    if (!fetches.isEmpty()) {
      return fetches.removeFirst();
    }
    if (!waiting.isEmpty()) {
      return takeWaiting();
    }
    Request offer = offers.peekFirst();
    return offer != null && offer.buffer == null ? offers.removeFirst() : null;
  }

  /** Ends a request, of which its user is notified soon. */
  private void finish(Request request, @Nullable RuntimeException reason) {
    if (request.isAnswer()) {
      answers.remove(request.offered);
    }
    freeCarrier(request);
    if (request.offered != null) {
      request.offered.free();
      request.offered = null;
    }
    if (request.usesMemory()) {
      userMemory.end(request.local());
    }
    request.end(connection, reason);
    backlog.remove(request.heldBytes);
    deliveries.writabilityChanged();
    Request joined = request.takeJoined();
    if (request.waiter != null) {
      request.waiter.wake();
    } else if (request.hasListener()) {
      deliveries.finished(request);
    } else {
      recycle(request);
    }
    if (joined != null) {
      finishJoined(joined, reason);
    }
  }

  private void finishJoined(Request first, @Nullable RuntimeException reason) {
    Request next = first;
    while (next != null) {
      Request ended = next;
      next = ended.takeJoined();
      finish(ended, reason);
    }
  }
}
