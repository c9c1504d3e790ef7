package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.RdmaException;
import org.rdma4j.testing.SimulatedAdapter;
import org.rdma4j.verbs.attribute.PortState;

/** What a program sees if an adapter fails: a request, the port, or all of it. */
@Tag("mlx5")
@Tag("in-place")
final class AdapterFaultsTest {
  private static final int CHAIN = 8;

  private Loopback loopback;
  private MemoryRegion target;

  @BeforeEach
  void create() {
    loopback = Loopback.connected(config -> config, path -> path.access(AccessFlag.REMOTE_WRITE));
    target = loopback.domain.register(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  }

  @AfterEach
  void mend() {
    SimulatedAdapter.slow(Duration.ZERO);
    SimulatedAdapter.port(true);
    SimulatedAdapter.breakDown(false);
    loopback.close();
  }

  private static Stream<Arguments> syndromes() {
    return Stream.of(
        Arguments.of(SimulatedAdapter.REMOTE_ACCESS_ERROR, CompletionStatus.REMOTE_ACCESS_ERROR),
        Arguments.of(
            SimulatedAdapter.REMOTE_OPERATION_ERROR, CompletionStatus.REMOTE_OPERATION_ERROR),
        Arguments.of(SimulatedAdapter.RETRY_EXCEEDED, CompletionStatus.RETRY_EXCEEDED),
        Arguments.of(
            SimulatedAdapter.RNR_RETRY_EXCEEDED,
            CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED));
  }

  /** Unsignaled requests complete, too, once one has failed. */
  @ParameterizedTest
  @MethodSource("syndromes")
  void aFailureInTheMiddleOfAChainFlushesTheRest(int syndrome, CompletionStatus status) {
    SimulatedAdapter.fail(loopback.a.queuePair.number(), 3, syndrome);
    for (int i = 0; i < CHAIN; i++) {
      loopback
          .a
          .sends
          .add(i)
          .write(target.remoteAddress(), target.remoteKey())
          .from(loopback.a.region, 0, 8);
    }
    assertThat(loopback.a.sends.post()).isEqualTo(CHAIN);
    List<Loopback.Done> done = loopback.a.await(CHAIN - 3);
    assertThat(done).extracting(Loopback.Done::id).containsExactly(3L, 4L, 5L, 6L, 7L);
    assertThat(done.getFirst().status()).isEqualTo(status);
    assertThat(done.subList(1, done.size()))
        .extracting(Loopback.Done::status)
        .containsOnly(CompletionStatus.FLUSHED);
  }

  @Test
  void aPortThatGoesDownAndUpIsReported() throws InterruptedException {
    SimulatedAdapter.port(false);
    assertThat(event(new AsyncEvent.OfPort(AsyncEventType.PORT_ERROR, 1)::equals)).isPresent();
    assertThat(loopback.device.port(1).attributes().state()).isEqualTo(PortState.DOWN);
    SimulatedAdapter.port(true);
    assertThat(event(new AsyncEvent.OfPort(AsyncEventType.PORT_ACTIVE, 1)::equals)).isPresent();
    assertThat(loopback.device.port(1).attributes().state()).isEqualTo(PortState.ACTIVE);
  }

  /** The connection sends again when the port is up: no request fails. */
  @Test
  void aMessageWaitsForAPortThatIsDownForAShortTime() throws InterruptedException {
    SimulatedAdapter.port(false);
    loopback.b.receive(1, 0, 8);
    loopback.a.sends.add(2).from(loopback.a.region, 0, 8).signaled().post();
    assertThat(loopback.a.completions.await(Duration.ofMillis(5))).isZero();
    SimulatedAdapter.port(true);
    assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void aBrokenDeviceFlushesItsQueuePairsAndRefusesNewObjects() throws InterruptedException {
    loopback.b.receive(1, 0, 8);
    SimulatedAdapter.breakDown(true);
    assertThat(event(new AsyncEvent.OfDevice(AsyncEventType.DEVICE_FATAL)::equals)).isPresent();
    assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.FLUSHED);
    assertThatThrownBy(() -> loopback.domain.register(64))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("EIO")
        .hasMessageContaining("removed");
    assertThatThrownBy(loopback.device::allocateProtectionDomain)
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("EIO");
  }

  @Test
  void theObjectsOfABrokenDeviceCanBeClosed() {
    SimulatedAdapter.breakDown(true);
    loopback.close();
    SimulatedAdapter.breakDown(false);
    create();
    Messages.cross(
        loopback,
        loopback.domain.register(64, AccessFlag.LOCAL_WRITE),
        loopback.domain.register(64, AccessFlag.LOCAL_WRITE));
  }

  @Test
  void aCompletionQueueThatOverflowsIsReported() throws InterruptedException {
    try (CompletionQueue small = loopback.device.createCompletionQueue(3)) {
      QueuePair queuePair =
          loopback.domain.createQueuePair(Loopback.config(small).ignoreOverrun(true).sendDepth(32));
      queuePair.connect(
          loopback
              .path(queuePair.address(1, Loopback.gidIndex(loopback.device)))
              .access(AccessFlag.REMOTE_WRITE));
      SendRequests sends = queuePair.sendRequests(16);
      for (int i = 0; i < 16; i++) {
        sends
            .add(i)
            .write(target.remoteAddress(), target.remoteKey())
            .from(loopback.a.region, 0, 8)
            .signaled();
      }
      sends.post();
      assertThat(
              event(
                  event ->
                      event.equals(
                          new AsyncEvent.OfCompletionQueue(
                              AsyncEventType.COMPLETION_QUEUE_ERROR, Optional.of(small)))))
          .isPresent();
      queuePair.close();
    }
  }

  @Test
  void requestsOfASlowAdapterAreNotLost() {
    SimulatedAdapter.slow(Duration.ofMillis(2));
    long begin = System.nanoTime();
    for (int i = 0; i < CHAIN; i++) {
      loopback.b.receive(i, 0, 8);
      loopback.a.sends.add(i).from(loopback.a.region, 0, 8).signaled();
    }
    loopback.a.sends.post();
    assertThat(loopback.b.await(CHAIN))
        .extracting(Loopback.Done::id)
        .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(15));
    assertThat(loopback.a.await(CHAIN)).hasSize(CHAIN);
  }

  /** Returns the first event that is as expected, of the events that come within the patience. */
  private Optional<AsyncEvent> event(Predicate<AsyncEvent> expected) throws InterruptedException {
    long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
    while (System.nanoTime() < deadline) {
      Optional<AsyncEvent> event = loopback.device.awaitAsyncEvent(Duration.ofSeconds(1));
      if (event.filter(expected).isPresent()) {
        return event;
      }
    }
    return Optional.empty();
  }
}
