package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.testing.SimulatedAdapter;

/** Messages that go to buffers by their tags, which soft-RoCE does not know. */
@Tag("mlx5")
final class AdapterTagsTest {
  private static final int MAX_TAGS = 4;

  // The kind of a message and the length of its header: struct ibv_tmh of infiniband/tm_types.h.
  private static final byte NO_TAG = 0;
  private static final byte EAGER = 3;
  private static final long HEADER = 16;

  private static final long LENGTH = 64;
  private static final long TAGGED = 4096;
  private static final long ORDINARY = 8192;

  private RdmaDevice device;
  private ProtectionDomain domain;
  private CompletionQueue sent;
  private SharedReceiveQueue queue;
  private Completions received;
  private TagOperations operations;
  private SendRequests sends;
  private MemoryRegion region;

  @BeforeEach
  void create() {
    SimulatedAdapter.infiniband(true);
    device = Loopback.openDevice();
    domain = device.allocateProtectionDomain();
    region = domain.register(3 * 4096, AccessFlag.LOCAL_WRITE);
    sent = device.createCompletionQueue(64);
    CompletionQueue completions =
        device.createCompletionQueue(
            CompletionQueueConfig.of(64)
                .extended(CompletionField.BYTE_LENGTH, CompletionField.TAG));
    received = completions.completions(1);
    queue =
        domain.createSharedReceiveQueue(
            SharedReceiveQueueConfig.of(8).tagMatching(completions, MAX_TAGS, 8));
    operations = queue.tagOperations(MAX_TAGS + 1);
    QueuePairConfig config = QueuePairConfig.reliable(sent);
    QueuePair sender = domain.createQueuePair(config);
    QueuePair receiver = domain.createQueuePair(config.sharedReceiveQueue(queue));
    receiver.connect(PathConfig.to(sender.address()));
    sender.connect(PathConfig.to(receiver.address()));
    sends = sender.sendRequests(1);
  }

  @AfterEach
  void close() {
    device.close();
    SimulatedAdapter.infiniband(false);
  }

  /** Appends a buffer for a tag, and returns its handle. */
  private int append(long id, long tag) {
    operations.add(id).tag(tag, -1, id + 100).into(region, TAGGED, LENGTH).signaled();
    operations.post();
    next(CompletionOpcode.TAG_MATCHING_ADD, id);
    return operations.handle(0);
  }

  private void receive(long id) {
    queue.receiveRequests(1).add(id).into(region, ORDINARY, HEADER + LENGTH).post();
  }

  /** Sends random bytes behind a header with the tag, and returns them. */
  private byte[] send(byte kind, long tag, int privateData) {
    byte[] bytes = Messages.random(LENGTH);
    ByteBuffer header = region.segment().asSlice(0, HEADER).asByteBuffer();
    header.putInt(kind << 24).putInt(privateData).putLong(tag);
    region.segment().asSlice(HEADER, LENGTH).copyFrom(MemorySegment.ofArray(bytes));
    sends.add(1).from(region, 0, HEADER + LENGTH).signaled().post();
    assertThat(Loopback.await(sent, 1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    return bytes;
  }

  /** Polls the next completion of the receiver. */
  private void next(CompletionOpcode opcode, long id) {
    next(id);
    assertThat(received.opcode(0)).isEqualTo(opcode);
  }

  /** As above, but it may be one of a failure, which has no opcode. */
  private void next(long id) {
    long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
    while (received.poll() == 0) {
      if (System.nanoTime() - deadline > 0) {
        fail("no completion came within %s", Loopback.PATIENCE);
      }
      LockSupport.parkNanos(20_000);
    }
    assertThat(received.workRequestId(0)).isEqualTo(id);
  }

  private byte[] bytes(long offset) {
    return region.segment().asSlice(offset, LENGTH).toArray(JAVA_BYTE);
  }

  @Test
  void aMessageGoesToTheBufferOfItsTagWithoutItsHeader() {
    append(1, 41);
    append(2, 42);
    byte[] message = send(EAGER, 42, 7);
    next(CompletionOpcode.TAG_MATCHING_RECEIVE, 102);
    received.requireSuccess(0);
    assertThat(received.isTagMatched(0)).isTrue();
    assertThat(received.isTaggedDataValid(0)).isTrue();
    assertThat(received.tag(0)).isEqualTo(42);
    assertThat(received.tagPrivateData(0)).isEqualTo(7);
    assertThat(received.byteLength(0)).isEqualTo(LENGTH);
    assertThat(bytes(TAGGED)).isEqualTo(message);
  }

  @Test
  void aMessageThatMatchesNoTagTakesAReceiveAndMatchingStopsUntilTheProgramSynchronizes() {
    receive(5);
    byte[] message = send(EAGER, 42, 7);
    next(CompletionOpcode.TAG_MATCHING_RECEIVE, 5);
    assertThat(received.isTagMatched(0)).isFalse();
    assertThat(received.byteLength(0)).isEqualTo(HEADER + LENGTH);
    assertThat(bytes(ORDINARY + HEADER)).isEqualTo(message);
    append(1, 42);
    assertThat(received.isTagSynchronizationWanted(0)).isTrue();
    operations.add(6).synchronize(1).signaled().post();
    next(CompletionOpcode.TAG_MATCHING_SYNC, 6);
    assertThat(received.isTagSynchronizationWanted(0)).isFalse();
    byte[] second = send(EAGER, 42, 7);
    next(CompletionOpcode.TAG_MATCHING_RECEIVE, 101);
    assertThat(bytes(TAGGED)).isEqualTo(second);
  }

  @Test
  void aMessageWithoutATagTakesAReceive() {
    append(1, 42);
    receive(5);
    byte[] message = send(NO_TAG, 42, 7);
    next(CompletionOpcode.TAG_MATCHING_NO_TAG, 5);
    assertThat(bytes(ORDINARY + HEADER)).isEqualTo(message);
  }

  @Test
  void aRemovedTagTakesNoMessage() {
    int handle = append(1, 42);
    operations.add(2).remove(handle).signaled().post();
    next(CompletionOpcode.TAG_MATCHING_DELETE, 2);
    received.requireSuccess(0);
    receive(5);
    send(EAGER, 42, 7);
    next(CompletionOpcode.TAG_MATCHING_RECEIVE, 5);
  }

  @Test
  void aTagThatAMessageTookCannotBeRemoved() {
    int handle = append(1, 42);
    send(EAGER, 42, 7);
    operations.add(2).remove(handle).signaled().post();
    next(CompletionOpcode.TAG_MATCHING_RECEIVE, 101);
    next(2);
    assertThat(received.status(0)).isEqualTo(CompletionStatus.TAG_MATCHING_ERROR);
  }

  @Test
  void aListThatIsFullRefusesTheTagAndKeepsItsOperation() {
    for (int i = 0; i <= MAX_TAGS; i++) {
      operations.add(i).tag(i, -1, i).into(region, TAGGED, LENGTH);
    }
    assertThatThrownBy(operations::post)
        .isInstanceOfSatisfying(
            PostException.class,
            thrown -> {
              assertThat(thrown.index()).isEqualTo(MAX_TAGS);
              assertThat(thrown.errno()).isEqualTo(ErrorNumber.ENOMEM.value());
            });
    assertThat(operations.size()).isEqualTo(1);
  }

  /** libmlx5 connects a queue pair to itself without a GID, which the kernel refuses there. */
  @Test
  void aPortOfEthernetRefusesTheQueue() {
    SimulatedAdapter.infiniband(false);
    try (RdmaDevice ethernet = Loopback.openDevice()) {
      ProtectionDomain its = ethernet.allocateProtectionDomain();
      CompletionQueueConfig extended = CompletionQueueConfig.of(64).extended(CompletionField.TAG);
      SharedReceiveQueueConfig config =
          SharedReceiveQueueConfig.of(8)
              .tagMatching(ethernet.createCompletionQueue(extended), MAX_TAGS, 8);
      assertThatThrownBy(() -> its.createSharedReceiveQueue(config))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ibv_create_srq_ex")
          .hasMessageContaining("EINVAL")
          .hasMessageContaining("port of Ethernet");
    }
  }
}
