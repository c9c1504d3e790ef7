package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.testing.SimulatedAdapter;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoutingHeader;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.TransportType;

/** Datagrams and reliable datagrams (SRD) of EFA, whose provider does many things differently. */
@Tag("mlx5")
final class AdapterEfaTest {
  private static final int QUEUE_KEY = 17;
  private static final int LENGTH = 64;
  private static final int TARGET = 4096;

  private enum Kind {
    DATAGRAM,
    EXTENDED_DATAGRAM,
    RELIABLE_DATAGRAM
  }

  private RdmaDevice device;
  private ProtectionDomain domain;
  private CompletionQueue queue;
  private MemoryRegion region;
  private AddressHandle handle;

  @BeforeEach
  void create() {
    SimulatedAdapter.efa(true);
    device = Loopback.openDevice();
    domain = device.allocateProtectionDomain();
    queue = device.createCompletionQueue(64);
    region = domain.register(2 * TARGET, AccessFlag.LOCAL_WRITE);
    handle = domain.createAddressHandle(AddressVector.to(device.port(1).gid(0), 1, 0));
  }

  @AfterEach
  void close() {
    device.close();
    SimulatedAdapter.efa(false);
  }

  private QueuePair ready(Kind kind) {
    QueuePairConfig config =
        QueuePairConfig.datagram(queue).sendDepth(8).receiveDepth(8).inlineBytes(32);
    QueuePairConfig extended =
        config.extended(SendOperation.SEND, SendOperation.SEND_WITH_IMMEDIATE);
    QueuePair queuePair =
        switch (kind) {
          case DATAGRAM -> domain.createQueuePair(config);
          case EXTENDED_DATAGRAM -> domain.createQueuePair(extended);
          case RELIABLE_DATAGRAM ->
              domain.createQueuePair(
                  QueuePairConfig.reliableDatagram(queue)
                      .sendDepth(8)
                      .receiveDepth(8)
                      .inlineBytes(32));
        };
    queuePair.startDatagrams(1, 0, QUEUE_KEY);
    return queuePair;
  }

  private byte[] fill(int length) {
    byte[] bytes = Messages.random(length);
    region.segment().asSlice(0, length).copyFrom(MemorySegment.ofArray(bytes));
    return bytes;
  }

  private byte[] received(int offset, int length) {
    return region.segment().asSlice(TARGET + offset, length).toArray(JAVA_BYTE);
  }

  @Test
  void theDeviceIsOneOfEfa() {
    assertThat(device.info().name()).isEqualTo("efa_0");
    assertThat(device.info().transport()).isEqualTo(TransportType.UNSPECIFIED);
    assertThat(device.port(1).attributes().linkLayer()).isEqualTo(LinkLayer.UNSPECIFIED);
  }

  @ParameterizedTest
  @EnumSource
  void messagesArrive(Kind kind) {
    int offset = kind == Kind.RELIABLE_DATAGRAM ? 0 : GlobalRoutingHeader.BYTES;
    QueuePair sender = ready(kind);
    QueuePair receiver = ready(kind);
    ReceiveRequests receives = receiver.receiveRequests(1);
    SendRequests sends = sender.sendRequests(1);
    for (int i = 0; i < 20; i++) {
      byte[] message = fill(i % 2 == 0 ? LENGTH : 32);
      receives.add(1).into(region, TARGET, 1024).post();
      if (i % 2 == 0) {
        sends.add(2).sendWithImmediate(i).from(region, 0, message.length);
      } else {
        sends.add(2).inline(region, 0, message.length);
      }
      sends.to(handle, receiver.number(), QUEUE_KEY).signaled().post();
      List<Loopback.Done> done = Loopback.await(queue, 2);
      assertThat(done).extracting(Loopback.Done::status).containsOnly(CompletionStatus.SUCCESS);
      assertThat(done).extracting(Loopback.Done::id).containsExactlyInAnyOrder(1L, 2L);
      Loopback.Done received = done.get(done.get(0).id() == 1 ? 0 : 1);
      assertThat(received.length()).isEqualTo(offset + message.length);
      assertThat(received.hasImmediate()).isEqualTo(i % 2 == 0);
      assertThat(received(offset, message.length)).isEqualTo(message);
    }
  }

  /** libefa refuses requests without a completion. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "RELIABLE_DATAGRAM")
  void aSendThatIsNotSignaledIsRefusedAndKept(Kind kind) {
    QueuePair sender = ready(kind);
    SendRequests sends = sender.sendRequests(1).add(1).from(region, 0, LENGTH);
    sends.to(handle, sender.number(), QUEUE_KEY);
    assertThatThrownBy(sends::post)
        .isInstanceOf(PostException.class)
        .hasMessageContaining("EINVAL");
    assertThat(sends.size()).isEqualTo(1);
  }

  /** libefa divides by the number of pieces. */
  @Test
  void aQueuePairWhoseReceivesHaveNoPiecesIsCreated() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.datagram(queue).receiveSges(0));
    assertThat(queuePair.number()).isPositive();
  }

  @Test
  void whatItLacksIsRefused() {
    try (CompletionChannel channel = device.createCompletionChannel()) {
      assertThatThrownBy(() -> device.createCompletionQueue(64, channel))
          .isInstanceOf(UnsupportedByDeviceException.class)
          .hasMessageContaining("efa_0");
    }
    assertThatThrownBy(() -> domain.createQueuePair(QueuePairConfig.reliable(queue)))
        .isInstanceOf(UnsupportedByDeviceException.class)
        .hasMessageContaining("efa_0");
    assertThat(device.supports(DeviceOperation.CREATE_SHARED_RECEIVE_QUEUE)).isFalse();
    assertThatThrownBy(() -> domain.createSharedReceiveQueue(4, 1)).hasMessageContaining("must be");
  }
}
