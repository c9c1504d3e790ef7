package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.platform.Deadline;
import org.rdma4j.testing.SimulatedAdapter;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.attribute.EfaAttributes;
import org.rdma4j.verbs.attribute.EfaCapability;

/** Queue pairs of SRD, which EFA devices have: libefa posts and polls on a simulated device. */
@Tag("mlx5")
final class AdapterReliableDatagramsTest {
  private static final int QUEUE_KEY = 17;
  private static final int TARGET = 1 << 19;
  private static final int MTU = 8928;

  private RdmaDevice device;
  private ProtectionDomain domain;
  private CompletionQueue queue;
  private MemoryRegion region;
  private AddressHandle handle;
  private Gid local;
  private EfaAttributes attributes;

  @BeforeEach
  void create() {
    SimulatedAdapter.efa(true);
    device = Loopback.openDevice();
    attributes = device.efaAttributes();
    domain = device.allocateProtectionDomain();
    queue = device.createCompletionQueue(64);
    Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    access.add(AccessFlag.REMOTE_WRITE);
    region = domain.register(2L * TARGET, access);
    local = device.port(1).gid(0);
    handle = domain.createAddressHandle(AddressVector.to(local, 1, 0));
  }

  @AfterEach
  void close() {
    device.close();
    SimulatedAdapter.efa(false);
  }

  private QueuePairConfig config() {
    QueuePairConfig config =
        QueuePairConfig.reliableDatagram(queue)
            .sendDepth(8)
            .receiveDepth(8)
            .sendSges(2)
            .receiveSges(2)
            .inlineBytes(32);
    return hasWrites()
        ? config.extended(
            SendOperation.SEND,
            SendOperation.SEND_WITH_IMMEDIATE,
            SendOperation.READ,
            SendOperation.WRITE,
            SendOperation.WRITE_WITH_IMMEDIATE)
        : config.extended(
            SendOperation.SEND, SendOperation.SEND_WITH_IMMEDIATE, SendOperation.READ);
  }

  private boolean hasWrites() {
    return attributes.capabilities().contains(EfaCapability.WRITE);
  }

  private QueuePair ready() {
    return ready(config());
  }

  private QueuePair ready(QueuePairConfig config) {
    QueuePair queuePair = domain.createQueuePair(config);
    queuePair.startDatagrams(1, 0, QUEUE_KEY, 1);
    return queuePair;
  }

  private byte[] fill(int offset, int length) {
    byte[] bytes = Messages.random(length);
    region.segment().asSlice(offset, length).copyFrom(MemorySegment.ofArray(bytes));
    return bytes;
  }

  private byte[] bytes(int offset, int length) {
    return region.segment().asSlice(offset, length).toArray(JAVA_BYTE);
  }

  private Loopback.Done awaitOne() {
    return Loopback.await(queue, 1).getFirst();
  }

  @Test
  void theAttributesAreThoseOfTheDevice() {
    assertThat(attributes.maxSends()).isEqualTo(1024);
    assertThat(attributes.maxReceives()).isEqualTo(1024);
    assertThat(attributes.maxSendSges()).isEqualTo(2);
    assertThat(attributes.maxReceiveSges()).isEqualTo(2);
    assertThat(attributes.maxInlineBytes()).isEqualTo(32);
    assertThat(attributes.maxTransferBytes()).isEqualTo(1 << 30);
    assertThat(attributes.capabilities())
        .contains(EfaCapability.READ, EfaCapability.RNR_RETRY, EfaCapability.SOURCE_GID)
        .doesNotContain(EfaCapability.UNSOLICITED_WRITE_RECEIVE);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 32, 33, 4096, MTU})
  void aMessageArrivesCompleteAndAtItsOffset(int length) {
    QueuePair sender = ready();
    QueuePair receiver = ready();
    byte[] message = fill(64, length);
    receiver
        .receiveRequests(1)
        .add(1)
        .into(region, TARGET + 128, 100)
        .into(region, TARGET + 1000, MTU)
        .post();
    SendRequests sends = sender.sendRequests(1);
    sends.add(2).sendWithImmediate(length).to(handle, receiver.number(), QUEUE_KEY);
    sends.from(region, 64, length / 2).from(region, 64 + length / 2, length - length / 2).post();

    List<Loopback.Done> done = Loopback.await(queue, 2);
    assertThat(done).extracting(Loopback.Done::status).containsOnly(CompletionStatus.SUCCESS);
    Loopback.Done received = done.get(done.get(0).id() == 1 ? 0 : 1);
    assertThat(received.length()).isEqualTo(length);
    assertThat(received.hasImmediate()).isTrue();
    int first = Math.min(100, length);
    assertThat(bytes(TARGET + 128, first)).isEqualTo(Arrays.copyOf(message, first));
    assertThat(bytes(TARGET + 1000, length - first))
        .isEqualTo(Arrays.copyOfRange(message, first, length));
    assertThat(bytes(TARGET + 1000 + length - first, 16)).containsOnly(0);
  }

  /** All in one post, with several destinations: the fields of one request are not another's. */
  @Test
  void onePostReachesSeveralPeers() {
    QueuePair sender = ready();
    List<QueuePair> receivers = List.of(ready(), ready(), ready());
    byte[] messages = fill(0, 3 * 16);
    SendRequests sends = sender.sendRequests(3);
    for (int i = 0; i < 3; i++) {
      receivers.get(i).receiveRequests(1).add(i).into(region, TARGET + 100L * i, 16).post();
      sends.add(10 + i).inline(region, 16L * i, 16);
      sends.to(handle, receivers.get(i).number(), QUEUE_KEY);
    }
    assertThat(sends.post()).isEqualTo(3);
    assertThat(Loopback.await(queue, 6))
        .extracting(Loopback.Done::id)
        .containsExactlyInAnyOrder(0L, 1L, 2L, 10L, 11L, 12L);
    for (int i = 0; i < 3; i++) {
      assertThat(bytes(TARGET + 100 * i, 16))
          .isEqualTo(Arrays.copyOfRange(messages, 16 * i, 16 * i + 16));
    }
  }

  /** The fields of its address are those of a destination in a datagram. */
  @Test
  void aReadBringsMemoryOfThePeer() {
    QueuePair reader = ready();
    QueuePair peer = ready();
    byte[] memory = fill(TARGET, 70_000);
    SendRequests reads = reader.sendRequests(2);
    reads.add(1).to(handle, peer.number(), QUEUE_KEY);
    reads.read(region.remoteAddress() + TARGET, region.remoteKey()).into(region, 8, 70_000);
    reads.add(2).read(region.remoteAddress() + TARGET, region.remoteKey());
    reads.into(region, 100_000, 10).to(handle, peer.number(), QUEUE_KEY).post();
    assertThat(Loopback.await(queue, 2))
        .extracting(Loopback.Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
    assertThat(bytes(8, 70_000)).isEqualTo(memory);
    assertThat(bytes(100_000, 10)).isEqualTo(Arrays.copyOf(memory, 10));
  }

  @Test
  void aWriteReachesMemoryOfThePeerOrIsRefusedIfLibefaHasNone() {
    if (!hasWrites()) {
      writesAreRefused();
      return;
    }
    QueuePair writer = ready();
    QueuePair peer = ready();
    byte[] memory = fill(0, 70_000);
    SendRequests writes = writer.sendRequests(1);
    writes.add(1).write(region.remoteAddress() + TARGET, region.remoteKey());
    writes.from(region, 0, 60_000).to(handle, peer.number(), QUEUE_KEY).post();
    assertThat(awaitOne().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(bytes(TARGET, 60_000)).isEqualTo(Arrays.copyOf(memory, 60_000));

    peer.receiveRequests(1).add(2).into(region, 200_000, 8).post();
    writes.add(3).writeWithImmediate(region.remoteAddress() + TARGET, region.remoteKey(), 42);
    writes.from(region, 0, 70_000).to(handle, peer.number(), QUEUE_KEY).post();
    List<Loopback.Done> done = Loopback.await(queue, 2);
    Loopback.Done received = done.get(done.get(0).id() == 2 ? 0 : 1);
    assertThat(received.hasImmediate()).isTrue();
    assertThat(received.length()).isEqualTo(70_000);
    assertThat(bytes(TARGET, 70_000)).isEqualTo(memory);
  }

  /** The libefa of rdma-core 44 has none. */
  private void writesAreRefused() {
    for (SendOperation operation :
        List.of(SendOperation.WRITE, SendOperation.WRITE_WITH_IMMEDIATE)) {
      assertThatThrownBy(() -> domain.createQueuePair(config().extended(operation)))
          .isInstanceOf(UnsupportedByDeviceException.class)
          .hasMessageContaining("efa_0")
          .hasMessageContaining("WRITE");
    }
  }

  @Test
  void aReadWithAWrongKeyFails() {
    QueuePair reader = ready();
    QueuePair peer = ready();
    SendRequests reads = reader.sendRequests(1);
    reads.add(1).read(region.remoteAddress(), region.remoteKey() + 1).into(region, 0, 10);
    reads.to(handle, peer.number(), QUEUE_KEY).post();
    assertThat(awaitOne().status())
        .isEqualTo(
            // The libefa of rdma-core 44 does not translate it.
            hasWrites() ? CompletionStatus.REMOTE_ACCESS_ERROR : CompletionStatus.GENERAL_ERROR);
  }

  @Test
  void aMessageWithoutAReceiveFailsAfterItsRetries() {
    QueuePair sender = ready();
    QueuePair receiver = ready();
    sender
        .sendRequests(1)
        .add(1)
        .from(region, 0, 8)
        .to(handle, receiver.number(), QUEUE_KEY)
        .post();
    assertThat(awaitOne().status()).isEqualTo(CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
  }

  @Test
  void aMessageThatIsRetriedForeverWaitsForItsReceive() throws InterruptedException {
    QueuePair sender = domain.createQueuePair(config());
    sender.startDatagrams(1, 0, QUEUE_KEY, 7);
    QueuePair receiver = ready();
    sender
        .sendRequests(1)
        .add(1)
        .from(region, 0, 8)
        .to(handle, receiver.number(), QUEUE_KEY)
        .post();
    Thread.sleep(200);
    assertThat(queue.completions(1).poll()).isZero();
    receiver.receiveRequests(1).add(2).into(region, TARGET, 8).post();
    assertThat(Loopback.await(queue, 2))
        .extracting(Loopback.Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
  }

  @Test
  void aWrongQueueKeyIsNotDelivered() {
    QueuePair sender = ready();
    QueuePair receiver = ready();
    receiver.receiveRequests(1).add(2).into(region, TARGET, 8).post();
    sender
        .sendRequests(1)
        .add(1)
        .from(region, 0, 8)
        .to(handle, receiver.number(), QUEUE_KEY + 1)
        .post();
    Loopback.Done done = awaitOne();
    assertThat(done.id()).isEqualTo(1);
    assertThat(done.status()).isNotEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void preparedRequestsCanBePostedAgain() {
    QueuePair sender = ready();
    QueuePair receiver = ready();
    ReceiveRequests receives = receiver.receiveRequests(1);
    PreparedSends prepared =
        sender
            .sendRequests(1)
            .add(1)
            .sendWithImmediate(1)
            .from(region, 0, 64)
            .to(handle, receiver.number(), QUEUE_KEY)
            .prepare();
    for (int i = 0; i < 20; i++) {
      byte[] message = fill(64 * i, 64);
      receives.add(2).into(region, TARGET, 64).post();
      prepared.offset(0, 64L * i).post();
      Loopback.await(queue, 2);
      assertThat(bytes(TARGET, 64)).isEqualTo(message);
    }
  }

  @Test
  void aHandleHasTheNumberThatCompletionsOfItsPortHave() {
    CompletionQueue extended =
        device.createCompletionQueue(
            CompletionQueueConfig.of(16)
                .extended(CompletionField.SOURCE_LID, CompletionField.SOURCE_GID));
    QueuePair sender = ready();
    QueuePair receiver = receiver(domain, extended);
    receiver.receiveRequests(1).add(1).into(region, TARGET, 8).post();
    sender
        .sendRequests(1)
        .add(2)
        .from(region, 0, 8)
        .to(handle, receiver.number(), QUEUE_KEY)
        .post();
    Completions completions = poll(extended);
    assertThat(completions.sourceLid(0)).isEqualTo(handle.number());
    assertThat(completions.sourceGid(0)).isEmpty();
  }

  /** A protection domain without an address handle does not know the sender. */
  @Test
  void aCompletionHasTheAddressOfAnUnknownSender() {
    ProtectionDomain stranger = device.allocateProtectionDomain();
    MemoryRegion memory = stranger.register(64, AccessFlag.LOCAL_WRITE);
    CompletionQueue extended =
        device.createCompletionQueue(
            CompletionQueueConfig.of(16)
                .extended(
                    CompletionField.SOURCE_LID,
                    CompletionField.SOURCE_GID,
                    CompletionField.SOURCE_QUEUE_PAIR_NUMBER));
    QueuePair sender = ready();
    QueuePair receiver = receiver(stranger, extended);
    receiver.receiveRequests(1).add(1).into(memory, 0, 8).post();
    sender
        .sendRequests(1)
        .add(2)
        .from(region, 0, 8)
        .to(handle, receiver.number(), QUEUE_KEY)
        .post();
    Completions completions = poll(extended);
    assertThat(completions.sourceLid(0)).isEqualTo(0xffff);
    assertThat(completions.sourceGid(0)).contains(local);
    assertThat(completions.sourceQueuePairNumber(0)).isEqualTo(sender.number());

    // The answer goes where the address says, and what was read before does not stay.
    AddressHandle back = stranger.createAddressHandle(AddressVector.to(local, 1, 0));
    sender.receiveRequests(1).add(3).into(region, TARGET, 8).post();
    SendRequests answer = receiver.sendRequests(1);
    answer
        .add(4)
        .from(memory, 0, 8)
        .to(back, completions.sourceQueuePairNumber(0), QUEUE_KEY)
        .post();
    completions = poll(extended);
    assertThat(completions.workRequestId(0)).isEqualTo(4);
    assertThat(completions.sourceGid(0)).isEmpty();
  }

  private static QueuePair receiver(ProtectionDomain domain, CompletionQueue queue) {
    QueuePair receiver =
        domain.createQueuePair(
            QueuePairConfig.reliableDatagram(queue).sendDepth(4).receiveDepth(4));
    receiver.startDatagrams(1, 0, QUEUE_KEY);
    return receiver;
  }

  private static Completions poll(CompletionQueue queue) {
    Completions completions = queue.completions(4);
    Deadline deadline = Deadline.after(Duration.ofSeconds(5));
    while (completions.poll() == 0) {
      assertThat(deadline.isOver()).isFalse();
    }
    completions.requireSuccess(0);
    return completions;
  }

  @ParameterizedTest
  @EnumSource(
      names = {"COMPARE_AND_SWAP", "FETCH_AND_ADD", "SEND_WITH_INVALIDATE", "BIND_MEMORY_WINDOW"})
  void operationsThatItDoesNotHaveAreRefused(SendOperation operation) {
    assertThatThrownBy(() -> domain.createQueuePair(config().extended(operation)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sendOperations is [" + operation + "]")
        .hasMessageContaining("call extended");
  }

  @Test
  void configurationsThatItDoesNotHaveAreRefused() {
    List<QueuePairConfig> wrong = new ArrayList<>();
    wrong.add(config().extended());
    wrong.add(config().segmentHeaderBytes(4));
    wrong.add(config().flags(QueuePairFlag.BLOCK_OWN_MULTICAST));
    wrong.add(config().sendSges(3));
    wrong.add(config().receiveSges(3));
    wrong.add(config().inlineBytes(33));
    wrong.add(config().sendDepth(1025));
    wrong.add(config().receiveDepth(1025));
    for (QueuePairConfig config : wrong) {
      assertThatThrownBy(() -> domain.createQueuePair(config))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must ");
    }
  }

  @Test
  void requestsThatItDoesNotHaveAreRefusedAndKept() {
    QueuePair queuePair = ready(config().signalAll(false));
    refused("creates no completion", queuePair, requests -> requests.from(region, 0, 8));
    refused("is fenced", queuePair, requests -> requests.from(region, 0, 8).signaled().fenced());
    refused("solicited", queuePair, requests -> requests.from(region, 0, 8).signaled().solicited());
    refused(
        "has 8929 bytes, must have at most 8928",
        queuePair,
        requests -> requests.from(region, 0, MTU).from(region, 0, 1).signaled());
    refused(
        "inline",
        queuePair,
        requests ->
            requests
                .read(region.remoteAddress(), region.remoteKey())
                .inline(region, 0, 8)
                .signaled());
    refused(
        "has 2 pieces",
        queuePair,
        requests ->
            requests
                .read(region.remoteAddress(), region.remoteKey())
                .into(region, 0, 8)
                .into(region, 8, 8)
                .signaled());
  }

  private interface Building {
    SendRequests add(SendRequests requests);
  }

  private void refused(String message, QueuePair queuePair, Building building) {
    SendRequests requests = queuePair.sendRequests(2);
    requests.add(1).from(region, 0, 8).to(handle, queuePair.number(), QUEUE_KEY).signaled();
    building.add(requests.add(2).to(handle, queuePair.number(), QUEUE_KEY));
    assertThatThrownBy(requests::post)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("request 1")
        .hasMessageContaining(message);
    assertThat(requests.size()).isEqualTo(2);
  }

  @Test
  void requestsWithoutADestinationOrWithAClosedOneAreRefused() {
    QueuePair queuePair = ready();
    SendRequests requests = queuePair.sendRequests(1);
    requests.add(1).read(region.remoteAddress(), region.remoteKey()).into(region, 0, 8);
    assertThatThrownBy(requests::post).isInstanceOf(IllegalStateException.class);
    requests.to(handle, queuePair.number(), QUEUE_KEY);
    handle.close();
    assertThatThrownBy(requests::post)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(handle::number).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void otherTypesOfChangesAreRefused() {
    QueuePair queuePair = domain.createQueuePair(config());
    assertThatThrownBy(() -> queuePair.initialize(1, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("initializeDatagrams");
    assertThatThrownBy(() -> queuePair.attachMulticast(local, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("UNRELIABLE_DATAGRAM");
    assertThatThrownBy(() -> queuePair.startDatagrams(1, 0, QUEUE_KEY, 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rnrRetries");
    QueuePair datagrams = domain.createQueuePair(QueuePairConfig.datagram(queue));
    assertThatThrownBy(() -> datagrams.startDatagrams(1, 0, QUEUE_KEY, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("rnrRetries");
  }

  @Test
  void closingTheDomainClosesItsQueuePairs() {
    QueuePair queuePair = ready();
    SendRequests requests = queuePair.sendRequests(1);
    requests.add(1).from(region, 0, 8).to(handle, queuePair.number(), QUEUE_KEY);
    domain.close();
    assertThatThrownBy(requests::post)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThat(SimulatedAdapter.objects(List.of("qp"))).isEmpty();
  }
}
