package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.attribute.LinkLayer;

/** Failures end in the documented exception or completion status, and in time. */
@Tag("device")
@Tag("data-path")
final class FailuresTest {
  /**
   * The status of the specification, and the statuses that soft-RoCE reports instead: the second
   * one until Linux 6.1, the third one from 6.12 on.
   */
  private static final List<CompletionStatus> REFUSED_LOCALLY =
      List.of(
          CompletionStatus.LOCAL_PROTECTION_ERROR,
          CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
          CompletionStatus.FLUSHED);

  @Tag("needs-connecting-by-address")
  @Test
  void sendsBeforeTheQueuePairIsReadyAreRefusedAndKept() {
    try (Loopback loopback = Loopback.unconnected()) {
      loopback.a.sends.add(1).from(loopback.a.region, 0, 4).signaled();
      assertThatThrownBy(loopback.a.sends::post)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("RESET")
          .hasMessageContaining("connect");
      loopback.a.queuePair.initialize(1, 0);
      assertThatThrownBy(loopback.a.sends::post)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("INIT");

      loopback.a.queuePair.connect(loopback.path(loopback.b.address()));
      loopback.b.queuePair.connect(loopback.path(loopback.a.address()));
      loopback.b.receive(2, 0, 64);
      assertThat(loopback.a.sends.post()).isEqualTo(1);
      assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(4);
    }
  }

  @Tag("needs-connecting-by-address")
  @Test
  void receivesAreRefusedInReset() {
    try (Loopback loopback = Loopback.unconnected()) {
      loopback.a.receives.add(1).into(loopback.a.region, 0, 4);
      assertThatThrownBy(loopback.a.receives::post)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("RESET")
          .hasMessageContaining("initialize");
    }
  }

  @Test
  void aFullSendQueueRefusesAndKeepsARequest() {
    try (Loopback loopback = Loopback.connected(config -> config, path -> path.rnrRetries(7))) {
      int depth = loopback.a.queuePair.capabilities().sendDepth();
      SendRequests requests = loopback.a.queuePair.sendRequests(depth);
      List<PostException> refusals = new ArrayList<>();
      int posted = 0;
      // No send completes without a receive of the peer. A device may accept a few more than it has
      // granted.
      while (requests.size() == 0 && posted < 4 * depth) {
        requests.add(posted).from(loopback.a.region, 0, 1).signaled();
        refusals.add(catchThrowableOfType(PostException.class, requests::post));
        posted++;
      }
      PostException refused = refusals.getLast();
      assertThat(refused.errnoName()).isEqualTo("ENOMEM");
      assertThat(refused.index()).isZero();
      assertThat(refused).hasMessageContaining("poll completions");
      assertThat(requests.size()).isEqualTo(1);
    }
  }

  @Test
  void aCompletionQueueTooSmallForItsQueuesIsRefused() {
    try (RdmaDevice device = Loopback.openDevice();
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(10)) {
      QueuePairConfig config = QueuePairConfig.reliable(queue).sendDepth(8).receiveDepth(8);
      int granted = queue.capacity();
      int depth = granted / 2 + 1;
      QueuePairConfig tooDeep = config.sendDepth(depth).receiveDepth(depth);

      assertThatThrownBy(() -> domain.createQueuePair(tooDeep))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(granted + " entries")
          .hasMessageContaining("ignoreOverrun");

      domain.createQueuePair(tooDeep.ignoreOverrun(true)).close();
      // The entries that a closed queue pair had reserved are free again.
      for (int i = 0; i < 3; i++) {
        domain.createQueuePair(config.sendDepth(granted / 2).receiveDepth(granted / 2)).close();
      }
    }
  }

  @Test
  void aKeyOfAClosedRegionEndsInAProtectionError() {
    try (Loopback loopback = Loopback.connected()) {
      MemoryRegion gone = loopback.domain.register(4096, AccessFlag.LOCAL_WRITE);
      loopback.b.receive(1, 0, 64);
      loopback.a.sends.add(2).from(gone, 0, 64).signaled();
      gone.close();
      loopback.a.sends.post();

      Loopback.Done done = loopback.a.await(1).getFirst();
      assertThat(done.id()).isEqualTo(2);
      assertThat(done.status()).isIn(REFUSED_LOCALLY);
      assertThat(done.queuePair()).isEqualTo(loopback.a.queuePair.number());
    }
  }

  @Tag("needs-atomics")
  @Test
  void anAtomicIntoAClosedRegionEndsInAProtectionError() {
    AccessFlag[] atomic = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC};
    try (Loopback loopback =
        Loopback.connected(config -> config, path -> path.access(AccessFlag.REMOTE_ATOMIC))) {
      MemoryRegion remote = loopback.domain.register(64, atomic);
      MemoryRegion gone = loopback.domain.register(64, atomic);
      loopback.a.sends.add(2).fetchAndAdd(remote.remoteAddress(), remote.remoteKey(), 1);
      loopback.a.sends.into(gone, 0, 8).signaled();
      gone.close();
      loopback.a.sends.post();

      assertThat(loopback.a.await(1).getFirst().status()).isIn(REFUSED_LOCALLY);
    }
  }

  @Test
  void aRegionOfAnotherDomainEndsInAProtectionError() {
    try (Loopback loopback = Loopback.connected();
        ProtectionDomain other = loopback.device.allocateProtectionDomain()) {
      MemoryRegion foreign = other.register(4096, AccessFlag.LOCAL_WRITE);
      loopback.b.receive(1, 0, 64);
      loopback.a.sends.add(2).from(foreign, 0, 64).signaled();
      loopback.a.sends.post();

      assertThat(loopback.a.await(1).getFirst().status()).isIn(REFUSED_LOCALLY);
    }
  }

  @Test
  void aReceiveIntoMemoryWithoutLocalWriteFails() {
    try (Loopback loopback = Loopback.connected()) {
      MemoryRegion readOnly = loopback.domain.register(4096);
      loopback.b.receives.add(1).into(readOnly, 0, 64);
      loopback.b.receives.post();
      loopback.a.sends.add(2).from(loopback.a.region, 0, 64).signaled();
      loopback.a.sends.post();

      assertThat(loopback.b.await(1).getFirst().status()).isNotEqualTo(CompletionStatus.SUCCESS);
    }
  }

  @Tag("needs-remote-errors")
  @Test
  void aMessageLongerThanTheReceiveBufferFailsAtBothEnds() {
    try (Loopback loopback = Loopback.connected()) {
      loopback.b.receive(1, 0, 10);
      loopback.a.sends.add(2).from(loopback.a.region, 0, 11).signaled();
      loopback.a.sends.post();

      assertThat(loopback.b.await(1).getFirst().status())
          .isIn(
              CompletionStatus.LOCAL_LENGTH_ERROR,
              CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
      assertThat(loopback.a.await(1).getFirst().status())
          .isIn(CompletionStatus.REMOTE_INVALID_REQUEST, CompletionStatus.REMOTE_OPERATION_ERROR);
    }
  }

  @Tag("needs-acknowledged-sends")
  @Test
  void aPeerThatIsGoneEndsInRetryExceeded() {
    try (Loopback loopback =
        Loopback.connected(config -> config, path -> path.timeout(10).retries(2))) {
      loopback.b.queuePair.close();
      loopback.a.sends.add(2).from(loopback.a.region, 0, 11);
      loopback.a.sends.post();

      // The send is not signaled, but a failure always produces a completion.
      Loopback.Done done = loopback.a.await(1).getFirst();
      assertThat(done.id()).isEqualTo(2);
      assertThat(done.status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
    }
  }

  @Tag("needs-remote-errors")
  @Test
  void aPeerWithoutAReceiveEndsInRnrRetryExceeded() {
    try (Loopback loopback = Loopback.connected(config -> config, path -> path.rnrRetries(2))) {
      loopback.a.sends.add(2).from(loopback.a.region, 0, 11).signaled();
      loopback.a.sends.post();

      assertThat(loopback.a.await(1).getFirst().status())
          .isEqualTo(CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
      assertThat(loopback.a.queuePair.query().state()).isEqualTo(QueuePairState.ERROR);
    }
  }

  @Tag("needs-acknowledged-sends")
  @Test
  void eachRetryWaitsForTheTimerOfThePeer() {
    int timer = 24;
    Duration itsTime = Duration.ofNanos(40_960_000);
    try (Loopback loopback =
        Loopback.connected(config -> config, path -> path.rnrRetries(3).minimumRnrTimer(timer))) {
      loopback.a.sends.add(2).from(loopback.a.region, 0, 11).signaled();
      long started = System.nanoTime();
      loopback.a.sends.post();

      assertThat(loopback.a.await(1).getFirst().status())
          .isEqualTo(CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
      assertThat(Duration.ofNanos(System.nanoTime() - started))
          .isBetween(itsTime.multipliedBy(3), Duration.ofSeconds(20));
    }
  }

  @Tag("needs-acknowledged-sends")
  @Test
  void aSendWaitsForALateReceive() throws InterruptedException {
    try (Loopback loopback = Loopback.connected(config -> config, path -> path.rnrRetries(7))) {
      loopback.a.sends.add(2).from(loopback.a.region, 0, 11).signaled();
      loopback.a.sends.post();
      Thread.sleep(200);
      assertThat(loopback.a.completions.poll()).isZero();
      loopback.b.receive(1, 0, 64);
      assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    }
  }

  @Test
  void outstandingReceivesAreFlushedOnceEachInTheErrorState() {
    try (Loopback loopback = Loopback.connected()) {
      for (int i = 0; i < Loopback.DEPTH; i++) {
        loopback.b.receives.add(i).into(loopback.b.region, 0, 64);
      }
      loopback.b.receives.post();
      loopback.b.queuePair.toError();

      List<Loopback.Done> flushed = loopback.b.await(Loopback.DEPTH);
      assertThat(flushed).extracting(Loopback.Done::id).doesNotHaveDuplicates();
      assertThat(flushed).extracting(Loopback.Done::status).containsOnly(CompletionStatus.FLUSHED);
    }
  }

  @Tag("needs-acknowledged-sends")
  @Test
  void outstandingSendsAreFlushedOnceEachInTheErrorState() {
    try (Loopback loopback = Loopback.connected()) {
      // No send completes without a receive of the peer.
      for (int i = 0; i < Loopback.DEPTH; i++) {
        loopback.a.sends.add(i).from(loopback.a.region, 0, 1);
      }
      loopback.a.sends.post();
      loopback.a.queuePair.toError();

      List<Loopback.Done> flushed = loopback.a.await(Loopback.DEPTH);
      assertThat(flushed).extracting(Loopback.Done::id).doesNotHaveDuplicates();
      assertThat(flushed).extracting(Loopback.Done::status).containsOnly(CompletionStatus.FLUSHED);
    }
  }

  @Test
  void aFailedCompletionThrowsAnExceptionWithAllDetails() {
    try (Loopback loopback = Loopback.connected()) {
      loopback.b.receive(77, 0, 64);
      loopback.b.queuePair.toError();
      while (loopback.b.completions.poll() == 0) {
        Thread.onSpinWait();
      }

      assertThat(loopback.b.completions.isSuccess(0)).isFalse();
      WorkCompletionException failed =
          catchThrowableOfType(
              WorkCompletionException.class, () -> loopback.b.completions.requireSuccess(0));
      assertThat(failed.status()).isEqualTo(CompletionStatus.FLUSHED);
      assertThat(failed.workRequestId()).isEqualTo(77);
      assertThat(failed.queuePairNumber()).isEqualTo(loopback.b.queuePair.number());
      assertThat(failed.vendorError()).isEqualTo(loopback.b.completions.vendorError(0));
      assertThat(failed)
          .hasMessageContaining("77")
          .hasMessageContaining("FLUSHED")
          .hasMessageEndingWith(CompletionStatus.FLUSHED.advice());
    }
  }

  @Tag("needs-queue-pair-states")
  @Test
  void aStepThatTheStateDoesNotAllowNamesTheCallAndTheErrno() {
    try (Loopback loopback = Loopback.unconnected()) {
      assertThatThrownBy(loopback.a.queuePair::drainSendQueue)
          .isInstanceOfSatisfying(
              RdmaException.class,
              thrown -> {
                assertThat(thrown.call()).isEqualTo("ibv_modify_qp(to SEND_QUEUE_DRAINED)");
                assertThat(thrown.errno()).isEqualTo(22);
                assertThat(thrown.errnoName()).isEqualTo("EINVAL");
                assertThat(thrown).hasMessageContaining("state");
              });
    }
  }

  @Tag("needs-connecting-by-address")
  @Test
  void aPathWithoutAGidIsRefusedOnEthernet() {
    try (Loopback loopback = Loopback.unconnected()) {
      assertThat(loopback.device.port(1).attributes().linkLayer()).isEqualTo(LinkLayer.ETHERNET);
      assertThatThrownBy(
              () ->
                  loopback.a.queuePair.connect(
                      PathConfig.to(loopback.b.address()).gidIndex(PathConfig.NO_GID)))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("GID index");
    }
  }

  @Test
  void aWaitWithoutAnEventEndsAtItsTimeout() throws InterruptedException {
    try (Loopback loopback = Loopback.connected()) {
      long started = System.nanoTime();
      assertThat(loopback.a.channel.awaitEvent(Duration.ofMillis(300))).isEmpty();
      assertThat(Duration.ofNanos(System.nanoTime() - started))
          .isBetween(Duration.ofMillis(300), Duration.ofSeconds(20));
    }
  }
}
