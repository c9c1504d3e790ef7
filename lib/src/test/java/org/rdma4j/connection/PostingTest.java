package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ErrorNumber;
import org.rdma4j.StandIn;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.LargeBuffers;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.buffers.ReceiveSupply;
import org.rdma4j.connection.session.Request;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.session.SessionLimits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

/** Requests that a device does not accept are not forgotten, and one thread at a time posts. */
@Tag(StandIn.TAG)
final class PostingTest {
  private static final int DEPTH = 8;
  private static final int POSTED = DEPTH + Session.CONTROL_SENDS;

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
  private final ReentrantLock lock = new ReentrantLock();
  private final Session session = newSession();
  private final QueuePair queuePair = newQueuePair();
  private final Posting posting = newPosting();

  @BeforeEach
  void connect() {
    lock.lock();
    session.connected(new Hello(64, 2, DEPTH, 1 << 20));
  }

  @AfterEach
  void close() {
    StandIn.call("hold_posts", 0);
    lock.unlock();
    device.close();
  }

  private Session newSession() {
    Exposures exposures = new Exposures(domain);
    BufferPool buffers = new BufferPool(bytes -> BufferRegion.register(exposures, bytes), 64, 64);
    LargeBuffers large =
        new LargeBuffers(bytes -> BufferRegion.register(exposures, bytes), 1 << 20);
    ReceiveSupply receives =
        new ReceiveSupply(
            buffers, new SharedReceives(domain.createSharedReceiveQueue(64, 1), buffers.ahead()));
    return new Session(
        "connection",
        new SessionLimits(DEPTH, DEPTH, 1 << 20, 0),
        buffers,
        large,
        new PromisedReceives(receives),
        freed -> {},
        new OperationMemory(),
        () -> new IllegalStateException("closed"));
  }

  private QueuePair newQueuePair() {
    QueuePair created =
        domain.createQueuePair(
            QueuePairConfig.reliable(device.createCompletionQueue(CompletionQueueConfig.of(100)))
                .sendDepth(POSTED));
    created.connect(PathConfig.to(new QueuePairAddress(1, 2, 3, Gid.ZERO)).gidIndex(0));
    return created;
  }

  private Posting newPosting() {
    return new Posting(queuePair, POSTED, session, lock, region.slice(0, 0), 0, false);
  }

  private List<Request> addReads(int count) {
    List<Request> added = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Request read = session.newRequest();
      read.operate(Request.Operation.READ, region.slice(64L * i, 64), 64, 0, 1);
      read.tell(this, i);
      session.add(read);
      added.add(read);
    }
    return added;
  }

  @Test
  void whatTheDeviceDoesNotAcceptFailsAndBreaksTheConnection() {
    List<Request> reads = addReads(4);
    StandIn.call("refuse", 1, ErrorNumber.EINVAL.value(), 1);
    posting.postAll();
    assertThat(session.lifecycle().failure()).hasMessageContaining("requests could not be posted");
    assertThat(reads.stream().map(Request::isDone)).containsExactly(false, true, true, true);
    assertThat(reads.get(3).failure()).isSameAs(session.lifecycle().failure());
    assertThat(session.postedCount()).as("the first read, and the end").isEqualTo(2);
    session.completed(0);
    assertThat(reads.getFirst().isDone()).isTrue();
    assertThat(reads.getFirst().failure()).isNull();
  }

  @Test
  void ifTheProviderDoesNotTellWhichOneAllCountAsPosted() {
    List<Request> reads = addReads(3);
    StandIn.call("refuse", 1, ErrorNumber.EINVAL.value(), 0);
    posting.postAll();
    assertThat(session.lifecycle().failure()).isNotNull();
    assertThat(reads).noneMatch(Request::isDone);
    assertThat(session.postedCount()).as("the reads, and the end").isEqualTo(4);
  }

  @Test
  void aRequestThatCannotBeDescribedFailsWithTheWholeChain() {
    List<Request> reads = addReads(1);
    Request atomic = session.newRequest();
    atomic.operate(Request.Operation.FETCH_AND_ADD, region.slice(0, 8), 8, 1, 1);
    atomic.tell(this, 0);
    session.add(atomic);
    reads.add(atomic);
    reads.addAll(addReads(1));
    posting.postAll();
    assertThat(reads).allMatch(Request::isDone);
    assertThat(session.lifecycle().failure())
        .hasRootCauseInstanceOf(IllegalArgumentException.class);
    assertThat(session.postedCount()).as("the end").isEqualTo(1);
  }

  @Test
  void ifTheQueuePairIsClosedTheRequestsFail() {
    List<Request> reads = addReads(2);
    queuePair.close();
    posting.postAll();
    assertThat(reads).allMatch(Request::isDone);
    assertThat(session.lifecycle().failure()).hasMessageContaining("closed");
    assertThat(session.postedCount()).isZero();
  }

  /** Posts what waits in a thread of its own, which is in C when this returns. */
  private FutureTask<Void> postHeldUp() throws InterruptedException {
    int before = session.postedCount();
    StandIn.call("hold_posts", 1);
    FutureTask<Void> post =
        new FutureTask<>(
            () -> {
              lock.lock();
              try {
                posting.postAll();
                return null;
              } finally {
                lock.unlock();
              }
            });
    lock.unlock();
    try {
      Thread.ofPlatform().daemon().start(post);
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (postedCount() == before && System.nanoTime() - end < 0) {
        Thread.sleep(1);
      }
    } finally {
      lock.lock();
    }
    assertThat(session.postedCount()).isGreaterThan(before);
    return post;
  }

  private int postedCount() {
    lock.lock();
    try {
      return session.postedCount();
    } finally {
      lock.unlock();
    }
  }

  private void letGoOn(FutureTask<Void> post) throws Exception {
    StandIn.call("hold_posts", 0);
    lock.unlock();
    try {
      post.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } finally {
      lock.lock();
    }
  }

  @Test
  void completionsAreHandledWhileTheDeviceTakesTheChain() throws Exception {
    List<Request> reads = addReads(2);
    FutureTask<Void> post = postHeldUp();
    session.completed(reads.getFirst().postNumber());
    assertThat(reads.stream().map(Request::isDone)).containsExactly(true, false);
    letGoOn(post);
    session.completed(reads.getLast().postNumber());
    assertThat(reads).allMatch(Request::isDone);
    assertThat(session.postedCount()).isZero();
  }

  @Test
  void oneThreadAtATimePostsAndLooksAgainAfterwards() throws Exception {
    addReads(2);
    FutureTask<Void> post = postHeldUp();
    addReads(1);
    posting.postAll();
    assertThat(session.postedCount()).isEqualTo(2);
    letGoOn(post);
    assertThat(session.postedCount()).isEqualTo(3);
  }

  @Test
  void theEndOfABrokenConnectionFollowsTheChainThatTheDeviceTakes() throws Exception {
    List<Request> first = addReads(1);
    FutureTask<Void> post = postHeldUp();
    session.breakUp("the test breaks it", null);
    posting.postAll();
    assertThat(session.postedCount()).as("the read, and the end that waits").isEqualTo(2);
    letGoOn(post);
    session.completed(first.getFirst().postNumber());
    assertThat(first.getFirst().isDone()).isTrue();
    assertThat(session.postedCount()).isEqualTo(1);
  }

  @Test
  void nothingIsTakenBackOfAConnectionThatWasClosedMeanwhile() throws Exception {
    List<Request> reads = addReads(2);
    FutureTask<Void> post = postHeldUp();
    session.stop();
    session.discard(new IllegalStateException("closed"));
    assertThat(reads).allMatch(Request::isDone);
    StandIn.call("refuse", 0, ErrorNumber.EINVAL.value(), 1);
    letGoOn(post);
    assertThat(session.postedCount()).isZero();
  }
}
