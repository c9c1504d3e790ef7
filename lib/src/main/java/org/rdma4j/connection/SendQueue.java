package org.rdma4j.connection;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.PostException;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * The requests of one connection, in their order: first those that wait for a credit or for a place
 * in the queue of the device, then those that the device has. They are posted in chains, of which
 * only the last is signaled: its completion is that of all before it.
 *
 * <p>That does not hold over soft-iWARP. There, a send completes when TCP has it, also before an
 * earlier read; and TCP still reads the memory of one that is not signaled. So over iWARP all
 * requests are signaled, and those that are not reads wait for the reads before them.
 *
 * <p>The lock of the connection guards it: every method requires it. The lock is free while the
 * device takes a chain, so that completions can be handled meanwhile; one thread at a time posts.
 */
final class SendQueue {
  /** Places of the device's queue that only messages of the protocol itself take. */
  static final int CONTROLS = 4;

  /**
   * The most bytes that a request of the device transfers, by the InfiniBand specification 2^31.
   */
  static final long MAX_TRANSFER = 1L << 30;

  private final SendRequests requests;
  private final ReentrantLock lock;
  private final Credits credits;
  private final PromisedReceives promises;
  private final BufferPool pool;
  private final int depth;
  private final int inlineBytes;
  private final boolean iwarp;

  private final Deque<Outgoing> waiting = new ArrayDeque<>();

  /**
   * The reads of what the peer has offered. They do not wait behind messages: if both sides have
   * messages that wait until their offers are fetched, neither would fetch any.
   */
  private final Deque<Outgoing> fetches = new ArrayDeque<>();

  private final Deque<Outgoing> posted = new ArrayDeque<>();
  private final Deque<Outgoing> spare = new ArrayDeque<>();

  /**
   * The requests whose memory was closed before they could be posted, or that were not accepted.
   */
  private final Deque<Outgoing> refused = new ArrayDeque<>();

  /** The requests to be posted ahead of all that waits, once the device has taken the chain. */
  private final Deque<Outgoing> ahead = new ArrayDeque<>();

  /** The posted offers of which the peer has not reported that it has fetched them. */
  private final Deque<Outgoing> offers = new ArrayDeque<>();

  /** The number of requests in the chain that is being built or posted. */
  private int chain;

  /** Whether a thread posts the chain, without the lock. */
  private boolean posting;

  /** The number of the first request in {@link #posted}, and of the next to be posted. */
  private long firstPosted;

  private long nextPosted;

  /** The number of waiting requests that need a credit. */
  private int waitingForCredit;

  /** The number of waiting requests that are offers. */
  private int waitingOffers;

  /** The number of fetched offers that the next message has to tell the peer about. */
  private int fetched;

  /** The number of posted messages of the protocol itself. */
  private int controls;

  /** The credits that the next message carries in addition to those that are owed. */
  private int alreadyGranted;

  /** Made once, so that a post allocates nothing. */
  private final Runnable all = this::describeAll;

  private final Runnable nextAhead = this::describeAhead;

  private boolean starved;
  private long sentMessages;
  private long sentBytes;
  private long reads;
  private long readBytes;
  private long writes;
  private long writtenBytes;
  private long atomics;

  /**
   * Creates the queue of a queue pair.
   *
   * @param lock the lock of the connection
   * @param depth the number of requests that the queue pair holds, without {@link #CONTROLS}
   * @param inlineBytes the longest message that the device copies into the request
   */
  SendQueue(
      QueuePair queuePair,
      ReentrantLock lock,
      Credits credits,
      PromisedReceives promises,
      BufferPool pool,
      int depth,
      int inlineBytes) {
    this.requests = queuePair.sendRequests(depth + CONTROLS);
    this.lock = lock;
    this.credits = credits;
    this.promises = promises;
    this.pool = pool;
    this.depth = depth;
    this.inlineBytes = inlineBytes;
    this.iwarp = queuePair.domain().device().info().transport() == TransportType.IWARP;
  }

  /** Returns an empty request, to be filled and {@link #add added}. */
  Outgoing newRequest() {
    Outgoing known = spare.pollLast();
    return known == null ? new Outgoing() : known;
  }

  /** Takes back a request that is done and that nobody looks at any more. */
  void recycle(Outgoing request) {
    request.clear();
    spare.addLast(request);
  }

  /** Adds a request to those that wait. */
  void add(Outgoing request) {
    request.event = Recording.begin(request);
    waiting.addLast(request);
    waitingForCredit += request.takesCredit() ? 1 : 0;
    waitingOffers += request.isOffer() ? 1 : 0;
  }

  /** Adds a read that fetches what the peer has offered. */
  void addFetch(Outgoing read) {
    read.event = Recording.begin(read);
    fetches.addLast(read);
  }

  /** Returns whether a further message could be posted without waiting for the peer. */
  boolean hasRoomForMessage() {
    return waiting.size() < depth
        && credits.available() > waitingForCredit
        && offers.size() + waitingOffers < Offer.MAX_UNFETCHED;
  }

  /** Returns whether a further operation need not wait for long. */
  boolean hasRoom() {
    return waiting.size() < depth;
  }

  /** Returns the number of requests that are not done. */
  int outstanding() {
    return fetches.size() + waiting.size() + posted.size() + offers.size();
  }

  /** Returns the number of requests that the device has, or will have at once. */
  int postedCount() {
    return posted.size() + ahead.size();
  }

  /** Returns what was posted for users, and what has arrived. */
  Traffic traffic(long receivedMessages, long receivedBytes) {
    return new Traffic(
        sentMessages,
        sentBytes,
        receivedMessages,
        receivedBytes,
        reads,
        readBytes,
        writes,
        writtenBytes,
        atomics);
  }

  /** Returns whether the device is so busy that it is better to collect requests for a chain. */
  boolean shouldCollect() {
    return isBusy() && 4 * waiting.size() < depth;
  }

  /** Returns whether the device has at least half of the requests that it can have. */
  boolean isBusy() {
    return 2 * posted.size() >= depth;
  }

  /** Notes that an offer of the peer was fetched, which it has to be told. */
  void offerFetched() {
    fetched++;
  }

  /** Returns the next offer that the peer has fetched, in their order; null if there is none. */
  @Nullable Outgoing pollOffer() {
    return offers.pollFirst();
  }

  /** Takes a request out of the offers, if it is one. */
  void removeOffer(Outgoing request) {
    if (request.isOffer()) {
      offers.remove(request);
    }
  }

  /**
   * Takes a request that the device does not have: one that it did not accept or that waits, or an
   * offer that arrived and was not fetched; null if none is left.
   */
  @Nullable Outgoing pollUnposted() {
    if (!refused.isEmpty()) {
      return refused.removeFirst();
    }
    if (!fetches.isEmpty()) {
      return fetches.removeFirst();
    }
    if (!waiting.isEmpty()) {
      return takeWaiting();
    }
    Outgoing offer = offers.peekFirst();
    return offer != null && offer.buffer == null ? offers.removeFirst() : null;
  }

  /** Takes any request that is not done; null if none is left. */
  @Nullable Outgoing pollUndone() {
    Outgoing next = pollUnposted();
    if (next == null) {
      next = ahead.pollFirst();
    }
    if (next == null) {
      next = posted.pollFirst();
    }
    if (next != null) {
      removeOffer(next);
    }
    return next;
  }

  /**
   * Posts what can be posted: the fetches, then the waiting requests in their order, and credits
   * alone if they are due and no message carries them. Does nothing while another thread posts,
   * which looks again afterwards.
   *
   * @return whether requests were posted, so that there may be more now
   * @throws RuntimeException if the queue pair refuses requests; {@link #pollUnposted} then returns
   *     those, unless the provider does not tell which they are
   */
  boolean flush() {
    if (posting) {
      return false;
    }
    try {
      return post(all);
    } finally {
      postAhead();
    }
  }

  /** Posts a chain; returns whether it had requests. */
  private boolean post(Runnable describe) {
    chain = 0;
    try {
      describe.run();
      if (chain > 0) {
        requests.signaled();
        postWithoutLock();
      }
      return chain > 0;
    } catch (RuntimeException | Error failed) {
      takeBackChain(failed);
      throw failed;
    }
  }

  private void postWithoutLock() {
    posting = true;
    lock.unlock();
    try {
      requests.post();
      requests.release();
    } finally {
      lock.lock();
      posting = false;
    }
  }

  /** Takes back the requests that the device did not accept: no completion would come for them. */
  private void takeBackChain(Throwable failed) {
    requests.clear();
    requests.release();
    int accepted = 0;
    if (failed instanceof PostException inC) {
      accepted = inC.index() == PostException.UNKNOWN ? chain : inC.index();
    }
    // None of them is left if the connection was closed meanwhile.
    for (; chain > accepted && !posted.isEmpty(); chain--) {
      Outgoing request = leave(posted.removeLast());
      nextPosted--;
      removeOffer(request);
      request.failure =
          failed instanceof RuntimeException reason ? reason : new IllegalStateException(failed);
      refused.addFirst(request);
    }
  }

  private void describeAll() {
    int room = depth + controls - posted.size();
    while (chain < room && !fetches.isEmpty()) {
      describeNext(fetches.removeFirst());
    }
    refuseNext();
    while (chain < room && !waiting.isEmpty() && mayPost(waiting.peekFirst())) {
      describeNext(takeWaiting());
      refuseNext();
    }
    if (chain == 0 && controls < CONTROLS - 1) {
      int granted = alreadyGranted + (credits.isDue() ? grantOwed() : 0);
      // While many offers are fetched, one message tells of several. Those that the device has will
      // complete, which leads here again.
      if (granted > 0 || (fetched > 0 && 2 * fetched >= posted.size())) {
        describeControl(granted);
      }
    }
  }

  private boolean mayPost(Outgoing request) {
    if (request.takesCredit() && credits.available() == 0) {
      return false;
    }
    // The peer reports in a message that it has fetched an offer, which takes a receive.
    return !request.isOffer() || (offers.size() < Offer.MAX_UNFETCHED && promises.add(1));
  }

  /** Grants the peer, with the next message, the credits of which its hello told nothing. */
  void grantFirstCredits() {
    alreadyGranted = Credits.FIRST_WINDOW;
  }

  private void describeControl(int granted) {
    Outgoing control = newRequest();
    control.kind = MessageKind.CONTROL;
    control.buffer = pool.take();
    control.buffer.become(MessageKind.CONTROL, 0, 0, null);
    alreadyGranted = granted;
    describeNext(control);
  }

  /** Gives back the credits that this side does not use. */
  void giveBackCredits() {
    int returned = credits.giveBack();
    if (returned > 0) {
      Outgoing message = newRequest();
      message.kind = MessageKind.RETURN;
      message.number = returned;
      message.buffer = pool.take();
      message.buffer.become(MessageKind.RETURN, 0, 0, null);
      add(message);
    }
  }

  /** Takes the next requests away if their memory was closed meanwhile. */
  private void refuseNext() {
    Outgoing next = waiting.peekFirst();
    while (next != null) {
      next.failure = closedMemory(next);
      if (next.failure == null) {
        return;
      }
      refused.addLast(takeWaiting());
      next = waiting.peekFirst();
    }
  }

  private Outgoing takeWaiting() {
    Outgoing next = waiting.removeFirst();
    waitingForCredit -= next.takesCredit() ? 1 : 0;
    waitingOffers -= next.isOffer() ? 1 : 0;
    return next;
  }

  /** Returns why the memory of a request cannot be used any more; null if it can. */
  private static @Nullable RuntimeException closedMemory(Outgoing request) {
    if (request.local != null) {
      try {
        request.local.region().checkOpen();
      } catch (IllegalStateException closed) {
        return closed;
      }
    }
    return null;
  }

  /** Takes a request that was refused, with its failure; null if none is left. */
  @Nullable Outgoing pollRefused() {
    return refused.pollFirst();
  }

  /** Grants the peer as many credits as it can have, and returns how many those are. */
  private int grantOwed() {
    int owed = Math.min(credits.owed(), MessageHeader.MAX_COUNT);
    starved = false;
    if (owed == 0) {
      return 0;
    }
    if (!promises.add(owed)) {
      // Others need receives too: fewer of them, and at the next try.
      credits.shrink();
      owed = credits.owed();
      starved = owed > 0 && !promiseFew(owed);
      if (starved) {
        return 0;
      }
    }
    credits.grant(owed);
    return owed;
  }

  private boolean promiseFew(int receives) {
    return credits.granted() == 0 ? promises.addNeeded(receives) : promises.add(receives);
  }

  /** Returns whether the peer lacks credits because all buffers are in use. */
  boolean isStarved() {
    return starved;
  }

  private void describeNext(Outgoing request) {
    posted.addLast(request);
    chain++;
    requests.add(nextPosted++);
    describe(request);
    if (iwarp) {
      requests.signaled();
      if (request.operation != Outgoing.Operation.READ) {
        requests.fenced();
      }
    }
  }

  private void describe(Outgoing request) {
    switch (request.operation) {
      case SEND -> describeSend(request);
      case READ -> describeRead(request);
      case WRITE -> {
        describeWrite(request);
        writes++;
        writtenBytes += request.bytes();
      }
      case PING -> describeWrite(request);
      case COMPARE_AND_SWAP -> {
        into(
            requests.compareAndSwap(
                request.remoteAddress, request.remoteKey, request.first, request.second),
            request);
        atomics++;
      }
      case FETCH_AND_ADD -> {
        into(
            requests.fetchAndAdd(request.remoteAddress, request.remoteKey, request.first), request);
        atomics++;
      }
    }
  }

  private void describeRead(Outgoing request) {
    into(requests.read(request.remoteAddress, request.remoteKey), request);
    // The bytes of a message that is fetched are counted as those of a message.
    if (request.incoming == null) {
      reads++;
      readBytes += request.bytes();
    }
  }

  private void describeWrite(Outgoing request) {
    requests.write(request.remoteAddress, request.remoteKey).from(local(request));
  }

  private void describeSend(Outgoing request) {
    Slot slot = slot(request);
    if (request.kind.takesCredit()) {
      credits.spend();
      sentMessages += request.kind == MessageKind.RETURN ? 0 : 1;
      sentBytes += request.isOffer() ? 0 : slot.length();
    } else {
      controls++;
    }
    int granted = alreadyGranted + grantOwed();
    alreadyGranted = 0;
    int told = Math.min(fetched, MessageHeader.MAX_COUNT);
    fetched -= told;
    long header = slot.payload() - MessageHeader.BYTES;
    MessageHeader.write(
        slot.regionMemory(), header, request.kind, request.flags, granted, told, request.number);
    long length = MessageHeader.BYTES + slot.length();
    requests.send();
    if (length <= inlineBytes) {
      requests.inline(slot.region(), header, length);
    } else {
      requests.from(slot.region(), header, length);
    }
    if (request.isOffer()) {
      offers.addLast(request);
    }
  }

  private static Slot slot(Outgoing request) {
    if (request.buffer == null) {
      throw new AssertionError(request.kind + " without a buffer");
    }
    return request.buffer;
  }

  private static void into(SendRequests described, Outgoing request) {
    MemorySlice target = local(request);
    described.into(target.region(), target.offset(), target.length());
  }

  private static MemorySlice local(Outgoing request) {
    if (request.local == null) {
      throw new AssertionError(request.operation + " without local memory");
    }
    return request.local;
  }

  /** Posts a request ahead of all that waits. */
  void postAhead(Outgoing request) {
    request.event = Recording.begin(request);
    ahead.addLast(request);
    postAhead();
  }

  private void postAhead() {
    while (!posting && !ahead.isEmpty()) {
      post(nextAhead);
    }
  }

  private void describeAhead() {
    describeNext(ahead.removeFirst());
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
  Outgoing takePosted() {
    firstPosted++;
    return leave(posted.removeFirst());
  }

  /** Notes that the device does not have a request any more, and returns it. */
  private Outgoing leave(Outgoing request) {
    if (request.operation == Outgoing.Operation.SEND && !request.kind.takesCredit()) {
      controls--;
    }
    return request;
  }
}
