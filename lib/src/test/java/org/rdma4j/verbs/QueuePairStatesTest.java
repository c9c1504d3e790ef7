package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.Mtu;

@Tag("device")
@Tag("in-place")
@Tag("needs-connecting-by-address")
final class QueuePairStatesTest {
  @Test
  void aQueuePairGoesThroughItsStatesOneByOne() {
    try (Loopback loopback = Loopback.unconnected()) {
      QueuePair pair = loopback.a.queuePair;
      PathConfig path = loopback.path(loopback.b.address());
      assertThat(pair.query().state()).isEqualTo(QueuePairState.RESET);
      pair.initialize(1, 0, AccessFlag.REMOTE_READ);
      assertThat(pair.query().state()).isEqualTo(QueuePairState.INIT);
      assertThat(pair.query().access()).contains(AccessFlag.REMOTE_READ);
      pair.readyToReceive(path);
      assertThat(pair.query().state()).isEqualTo(QueuePairState.READY_TO_RECEIVE);
      pair.readyToSend(path);
      assertThat(pair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
      pair.drainSendQueue();
      assertThat(pair.query().state()).isEqualTo(QueuePairState.SEND_QUEUE_DRAINED);
      pair.resumeSendQueue();
      assertThat(pair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
      pair.toError();
      assertThat(pair.query().state()).isEqualTo(QueuePairState.ERROR);
      pair.reset();
      assertThat(pair.query().state()).isEqualTo(QueuePairState.RESET);
    }
  }

  /** The types of queue pairs that carry messages, each as a plain and an extended queue pair. */
  static Stream<Arguments> kinds() {
    return Stream.of(
            QueuePairType.RELIABLE_CONNECTION,
            QueuePairType.UNRELIABLE_CONNECTION,
            QueuePairType.UNRELIABLE_DATAGRAM)
        .flatMap(type -> Stream.of(Arguments.of(type, false), Arguments.of(type, true)));
  }

  private static Loopback of(QueuePairType type, boolean extended) {
    return Loopback.unconnected(
        config -> {
          CompletionQueue queue = config.sendCompletions();
          QueuePairConfig ofType =
              QueuePairConfig.of(type, queue, queue)
                  .sendDepth(7)
                  .receiveDepth(5)
                  .sendSges(3)
                  .receiveSges(2)
                  .inlineBytes(40);
          return extended ? ofType.extended(SendOperation.SEND) : ofType;
        });
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aNewQueuePairIsInResetAndHasTheGrantedCapacities(QueuePairType type, boolean extended) {
    try (Loopback loopback = of(type, extended)) {
      QueuePairAttributes attributes = loopback.a.queuePair.query();
      assertThat(attributes.state()).isEqualTo(QueuePairState.RESET);
      assertThat(attributes.capabilities().sendDepth()).isGreaterThanOrEqualTo(7);
      assertThat(attributes.capabilities().receiveDepth()).isGreaterThanOrEqualTo(5);
      assertThat(attributes.capabilities().sendSges()).isGreaterThanOrEqualTo(3);
      assertThat(attributes.capabilities().receiveSges()).isGreaterThanOrEqualTo(2);
      assertThat(attributes.capabilities().inlineBytes()).isGreaterThanOrEqualTo(40);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void eachTypeIsInitialized(QueuePairType type, boolean extended) {
    try (Loopback loopback = of(type, extended)) {
      QueuePair pair = loopback.a.queuePair;
      if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
        pair.initializeDatagrams(1, 0, 0x123);
      } else {
        pair.initialize(1, 0);
      }
      assertThat(pair.query().state()).isEqualTo(QueuePairState.INIT);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aQueuePairForDatagramsKeepsItsNumbersUntilItIsReset(boolean extended) {
    try (Loopback loopback = of(QueuePairType.UNRELIABLE_DATAGRAM, extended)) {
      QueuePair pair = loopback.a.queuePair;
      pair.startDatagrams(1, 0, 0x123);
      assertThat(pair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
      assertThat(pair.query().queueKey()).isEqualTo(0x123);
      assertThat(pair.query().sendSequenceNumber()).isEqualTo(pair.sequenceNumber());
      pair.reset();
      assertThat(pair.query().state()).isEqualTo(QueuePairState.RESET);
    }
  }

  @Test
  void theSequenceNumberThatIsConfiguredIsInTheAddressAndInTheQueuePair() {
    try (Loopback loopback = Loopback.connected(config -> config.sequenceNumber(0x54_3210))) {
      for (Loopback.End end : new Loopback.End[] {loopback.a, loopback.b}) {
        assertThat(end.address().sequenceNumber()).isEqualTo(0x54_3210);
        assertThat(end.queuePair.query().sendSequenceNumber()).isEqualTo(0x54_3210);
        assertThat(end.queuePair.query().receiveSequenceNumber()).isEqualTo(0x54_3210);
      }
    }
  }

  @Test
  void queuePairsWithoutAConfiguredSequenceNumberGetDifferentOnesAndStillUnderstandEachOther() {
    try (Loopback loopback = Loopback.connected()) {
      assertThat(loopback.a.queuePair.sequenceNumber())
          .isNotEqualTo(loopback.b.queuePair.sequenceNumber());
      loopback.b.receive(1, 0, 8);
      loopback.a.sends.add(2).send().from(loopback.a.region, 0, 8).signaled().post();
      assertThat(loopback.b.await(1))
          .extracting(Loopback.Done::status)
          .containsExactly(CompletionStatus.SUCCESS);
    }
  }

  @Test
  void aResetQueuePairCanBeConnectedAgain() {
    try (Loopback loopback = Loopback.connected()) {
      for (Loopback.End end : new Loopback.End[] {loopback.a, loopback.b}) {
        end.queuePair.toError();
        end.queuePair.reset();
      }
      loopback.a.queuePair.connect(loopback.path(loopback.b.address()));
      loopback.b.queuePair.connect(loopback.path(loopback.a.address()));
      loopback.b.receive(1, 0, 8);
      loopback.a.sends.add(1).from(loopback.a.region, 0, 8);
      loopback.a.sends.post();
      assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    }
  }

  @Test
  void theQueryReturnsThePath() {
    try (Loopback loopback =
        Loopback.connected(
            config -> config,
            path ->
                path.mtu(Mtu.MTU_512)
                    .timeout(11)
                    .retries(3)
                    .rnrRetries(5)
                    .minimumRnrTimer(9)
                    .reads(2)
                    .remoteReads(4)
                    .access(AccessFlag.REMOTE_WRITE, AccessFlag.LOCAL_WRITE))) {
      QueuePairAttributes attributes = loopback.a.queuePair.query();
      assertThat(attributes.mtu()).isEqualTo(Mtu.MTU_512.value());
      assertThat(attributes.timeout()).isEqualTo(11);
      assertThat(attributes.retries()).isEqualTo(3);
      assertThat(attributes.rnrRetries()).isEqualTo(5);
      assertThat(attributes.minimumRnrTimer()).isEqualTo(9);
      assertThat(attributes.reads()).isEqualTo(2);
      assertThat(attributes.remoteReads()).isEqualTo(4);
      assertThat(attributes.port()).isEqualTo(1);
      assertThat(attributes.partitionKeyIndex()).isZero();
      assertThat(attributes.draining()).isFalse();
      assertThat(attributes.access())
          .containsAll(Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.LOCAL_WRITE));
      assertThat(attributes.remoteQueuePairNumber()).isEqualTo(loopback.b.queuePair.number());
      assertThat(attributes.receiveSequenceNumber())
          .isEqualTo(loopback.b.queuePair.sequenceNumber());
      assertThat(attributes.sendSequenceNumber()).isEqualTo(loopback.a.queuePair.sequenceNumber());
    }
  }

  @Tag("needs-ip-gids")
  @Test
  void aPathTakesGidAndMtuOfThePortIfItNamesNone() {
    try (Loopback loopback = Loopback.unconnected()) {
      QueuePair queuePair = loopback.a.queuePair;
      queuePair.connect(PathConfig.to(loopback.b.queuePair.address()));
      Port port = loopback.device.port(1);
      QueuePairAttributes attributes = queuePair.query();
      assertThat(attributes.mtu()).isEqualTo(port.attributes().activeMtu().value());
      GlobalRoute route =
          Objects.requireNonNull(Objects.requireNonNull(attributes.addressVector()).globalRoute());
      assertThat(route.gidIndex()).isEqualTo(port.preferredGid().index());
      assertThat(route.destination()).isEqualTo(port.preferredGid().gid());
    }
  }

  @Test
  void theGrantedCapacitiesAreAtLeastTheRequestedOnes() {
    try (Loopback loopback = Loopback.unconnected()) {
      QueuePairCapabilities granted = loopback.a.queuePair.capabilities();
      assertThat(granted.sendDepth()).isGreaterThanOrEqualTo(Loopback.DEPTH);
      assertThat(granted.receiveDepth()).isGreaterThanOrEqualTo(Loopback.DEPTH);
      assertThat(granted.sendSges()).isGreaterThanOrEqualTo(4);
      assertThat(granted.receiveSges()).isGreaterThanOrEqualTo(4);
      assertThat(granted.inlineBytes()).isGreaterThanOrEqualTo(64);
      assertThat(loopback.a.queue.capacity()).isGreaterThanOrEqualTo(4 * Loopback.DEPTH);
    }
  }

  @Test
  void capacitiesBeyondTheDeviceAreRefusedWithTheRange() {
    try (RdmaDevice device = Loopback.openDevice();
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(1);
        RdmaDevice other = Loopback.openDevice()) {
      DeviceAttributes limits = device.attributes();
      QueuePairConfig config = QueuePairConfig.reliable(queue).ignoreOverrun(true);
      assertThatThrownBy(() -> domain.createQueuePair(config.sendDepth(-1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("sendDepth is -1, must be from 0 to " + limits.maxWorkRequests());
      assertThatThrownBy(() -> domain.createQueuePair(config.receiveSges(limits.maxSges() + 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("receiveSges");
      assertThatThrownBy(() -> domain.createQueuePair(config.inlineBytes(60_000)))
          .isInstanceOf(org.rdma4j.RdmaException.class)
          .hasMessageContaining("ibv_create_qp")
          .hasMessageContaining("60000");
      assertThatThrownBy(() -> device.createCompletionQueue(0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("entries is 0");
      assertThatThrownBy(() -> other.allocateProtectionDomain().createQueuePair(config))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("send completion queue");
      assertThatThrownBy(() -> device.createCompletionQueue(1, other.createCompletionChannel()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("completion channel");
    }
  }

  @Test
  void aPathBeyondTheDeviceIsRefused() {
    try (Loopback loopback = Loopback.unconnected()) {
      PathConfig path = loopback.path(loopback.b.address());
      assertThatThrownBy(() -> loopback.a.queuePair.connect(path.port(9)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("port is 9");
      int reads = loopback.device.attributes().maxRemoteReads();
      assertThatThrownBy(() -> loopback.a.queuePair.connect(path.remoteReads(reads + 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("remoteReads");
    }
  }

  @Test
  void theMaximumOfABatchMustFitTheQueue() {
    try (Loopback loopback = Loopback.unconnected()) {
      int depth = loopback.a.queuePair.capabilities().sendDepth();
      assertThatThrownBy(() -> loopback.a.queuePair.sendRequests(depth + 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("sendDepth")
          .hasMessageContaining("from 1 to " + depth);
      assertThatThrownBy(() -> loopback.a.queuePair.receiveRequests(0))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> loopback.a.queue.completions(loopback.a.queue.capacity() + 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
