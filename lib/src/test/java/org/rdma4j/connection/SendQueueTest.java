package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PostException;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

/** Requests that a device does not accept are not forgotten. */
@Tag(StandIn.TAG)
final class SendQueueTest {
  private static final int DEPTH = 8;

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
  private final ReentrantLock lock = new ReentrantLock();
  private final SendQueue queue = newQueue();

  @BeforeEach
  void lock() {
    lock.lock();
  }

  @AfterEach
  void close() {
    StandIn.call("hold_posts", 0);
    lock.unlock();
    device.close();
  }

  private SendQueue newQueue() {
    QueuePair queuePair =
        domain.createQueuePair(
            QueuePairConfig.reliable(device.createCompletionQueue(CompletionQueueConfig.of(100)))
                .sendDepth(DEPTH + SendQueue.CONTROLS));
    queuePair.connect(PathConfig.to(new QueuePairAddress(1, 2, 3, Gid.ZERO)).gidIndex(0));
    BufferPool buffers = new BufferPool(domain, 64, 64);
    ReceiveSupply receives = new ReceiveSupply(buffers, domain.createSharedReceiveQueue(64, 1));
    return new SendQueue(
        queuePair, lock, new Credits(DEPTH), new PromisedReceives(receives), buffers, DEPTH, 0);
  }

  private List<Outgoing> addReads(int count) {
    List<Outgoing> added = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Outgoing read = queue.newRequest();
      read.operation = Outgoing.Operation.READ;
      read.local = region.slice(64L * i, 64);
      queue.add(read);
      added.add(read);
    }
    return added;
  }

  private List<Outgoing> unposted() {
    List<Outgoing> found = new ArrayList<>();
    for (Outgoing next = queue.pollUnposted(); next != null; next = queue.pollUnposted()) {
      found.add(next);
    }
    return found;
  }

  @Test
  void whatTheDeviceDoesNotAcceptIsTakenBack() {
    List<Outgoing> reads = addReads(4);
    StandIn.call("refuse", 1, ErrorNumber.EINVAL.value(), 1);
    assertThatThrownBy(queue::flush).isInstanceOf(PostException.class);
    assertThat(queue.postedCount()).isEqualTo(1);
    assertThat(unposted()).containsExactlyElementsOf(reads.subList(1, 4));
    assertThat(reads.get(3).failure).hasMessageContaining("EINVAL");
    assertThat(queue.takePosted()).isSameAs(reads.getFirst());
  }

  @Test
  void ifTheProviderDoesNotTellWhichOneAllCountAsPosted() {
    addReads(3);
    StandIn.call("refuse", 1, ErrorNumber.EINVAL.value(), 0);
    assertThatThrownBy(queue::flush).isInstanceOf(PostException.class);
    assertThat(queue.postedCount()).isEqualTo(3);
    assertThat(unposted()).isEmpty();
  }

  @Test
  void aRequestThatCannotBeDescribedIsTakenBackWithTheWholeChain() {
    List<Outgoing> reads = addReads(3);
    reads.get(1).operation = Outgoing.Operation.FETCH_AND_ADD;
    reads.get(1).remoteAddress = 1;
    assertThatThrownBy(queue::flush).isInstanceOf(IllegalArgumentException.class);
    assertThat(queue.postedCount()).isZero();
    assertThat(unposted()).containsExactlyElementsOf(reads);
  }

  /** Posts what waits in a thread of its own, which is in C when this returns. */
  private FutureTask<Boolean> flushHeldUp() throws InterruptedException {
    int before = queue.postedCount();
    StandIn.call("hold_posts", 1);
    FutureTask<Boolean> flush =
        new FutureTask<>(
            () -> {
              lock.lock();
              try {
                return queue.flush();
              } finally {
                lock.unlock();
              }
            });
    lock.unlock();
    try {
      Thread.ofPlatform().daemon().start(flush);
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (postedCount() == before && System.nanoTime() - end < 0) {
        Thread.sleep(1);
      }
    } finally {
      lock.lock();
    }
    assertThat(queue.postedCount()).isGreaterThan(before);
    return flush;
  }

  private int postedCount() {
    lock.lock();
    try {
      return queue.postedCount();
    } finally {
      lock.unlock();
    }
  }

  private boolean letGoOn(FutureTask<Boolean> flush) throws Exception {
    StandIn.call("hold_posts", 0);
    lock.unlock();
    try {
      return flush.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } finally {
      lock.lock();
    }
  }

  @Test
  void completionsAreTakenWhileTheDeviceTakesTheChain() throws Exception {
    List<Outgoing> reads = addReads(2);
    FutureTask<Boolean> flush = flushHeldUp();
    assertThat(queue.takePosted()).isSameAs(reads.getFirst());
    assertThat(letGoOn(flush)).isTrue();
    assertThat(queue.takePosted()).isSameAs(reads.getLast());
    assertThat(queue.postedCount()).isZero();
  }

  @Test
  void oneThreadAtATimePosts() throws Exception {
    addReads(2);
    FutureTask<Boolean> flush = flushHeldUp();
    addReads(1);
    assertThat(queue.flush()).isFalse();
    assertThat(queue.postedCount()).isEqualTo(2);
    letGoOn(flush);
    assertThat(queue.flush()).isTrue();
    assertThat(queue.postedCount()).isEqualTo(3);
  }

  @Test
  void aRequestAheadOfAllFollowsTheChainThatTheDeviceTakes() throws Exception {
    List<Outgoing> first = addReads(1);
    FutureTask<Boolean> flush = flushHeldUp();
    List<Outgoing> waiting = addReads(1);
    Outgoing ahead = queue.newRequest();
    ahead.operation = Outgoing.Operation.READ;
    ahead.local = region.slice(0, 64);
    queue.postAhead(ahead);
    assertThat(queue.postedCount()).isEqualTo(2);
    letGoOn(flush);
    queue.flush();
    assertThat(List.of(queue.takePosted(), queue.takePosted(), queue.takePosted()))
        .containsExactly(first.getFirst(), ahead, waiting.getFirst());
  }

  @Test
  void nothingIsTakenBackOfAConnectionThatWasClosedMeanwhile() throws Exception {
    List<Outgoing> reads = addReads(2);
    FutureTask<Boolean> flush = flushHeldUp();
    assertThat(List.of(queue.pollUndone(), queue.pollUndone())).containsExactlyElementsOf(reads);
    StandIn.call("refuse", 0, ErrorNumber.EINVAL.value(), 1);
    assertThatThrownBy(() -> letGoOn(flush)).hasCauseInstanceOf(PostException.class);
    assertThat(queue.pollUndone()).isNull();
  }

  @Test
  void thePeerIsToldOfSeveralFetchesAtATimeWhileOthersGoOn() {
    addReads(4);
    queue.flush();
    queue.offerFetched();
    assertThat(queue.flush()).isFalse();
    queue.offerFetched();
    assertThat(queue.flush()).isTrue();
    assertThat(queue.flush()).isFalse();
  }

  @Test
  void thePeerIsToldOfTheLastFetchAtOnce() {
    queue.offerFetched();
    assertThat(queue.flush()).isTrue();
  }
}
