package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;

/** Extended reliable connections, which soft-RoCE does not have: messages to receive queues. */
@Tag("mlx5")
final class AdapterXrcTest {
  private static final AccessFlag[] ACCESS = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE};

  private RdmaDevice device;
  private ProtectionDomain domain;
  private CompletionQueue sent;
  private CompletionQueue received;
  private XrcDomain xrcDomain;
  private SharedReceiveQueue target;
  private MemoryRegion region;

  @BeforeEach
  void create() {
    device = Loopback.openDevice();
    domain = device.allocateProtectionDomain();
    sent = device.createCompletionQueue(64);
    received = device.createCompletionQueue(64);
    xrcDomain = device.openXrcDomain();
    target =
        domain.createSharedReceiveQueue(SharedReceiveQueueConfig.of(8).xrc(xrcDomain, received));
    region = domain.register(4096, ACCESS);
  }

  @AfterEach
  void close() {
    device.close();
  }

  /** Connects a queue pair that sends to a receiving one, and returns it. */
  private QueuePair connected(QueuePair sender) {
    QueuePair receiver = domain.createQueuePair(QueuePairConfig.xrcReceive(xrcDomain));
    int gid = Loopback.gidIndex(device);
    receiver.connect(PathConfig.to(sender.address(1, gid)).gidIndex(gid).access(ACCESS));
    sender.connect(PathConfig.to(receiver.address(1, gid)).gidIndex(gid));
    return sender;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMessageArrivesInTheReceiveQueueThatItNames(boolean isExtended) {
    QueuePairConfig config = QueuePairConfig.xrcSend(sent).sendDepth(4);
    QueuePair sender =
        connected(
            domain.createQueuePair(
                isExtended ? config.extended(SendOperation.SEND, SendOperation.WRITE) : config));
    byte[] bytes = Messages.random(64);
    region.segment().asSlice(0, 64).copyFrom(MemorySegment.ofArray(bytes));
    target.receiveRequests(1).add(7).into(region, 1024, 64).post();
    SendRequests sends = sender.sendRequests(2);
    sends.add(1).toSharedReceiveQueue(target.number()).from(region, 0, 64).signaled();
    assertThat(sends.post()).isEqualTo(1);
    assertThat(Loopback.await(sent, 1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    Loopback.Done done = Loopback.await(received, 1).getFirst();
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(done.id()).isEqualTo(7);
    assertThat(done.length()).isEqualTo(64);
    assertThat(region.segment().asSlice(1024, 64).toArray(JAVA_BYTE)).isEqualTo(bytes);
    sends.add(2).write(region.remoteAddress() + 2048, region.remoteKey()).from(region, 0, 64);
    sends.toSharedReceiveQueue(target.number()).signaled();
    assertThat(sends.post()).isEqualTo(1);
    assertThat(Loopback.await(sent, 1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(region.segment().asSlice(2048, 64).toArray(JAVA_BYTE)).isEqualTo(bytes);
  }

  @Test
  void aMessageToAQueueThatDoesNotExistIsRefused() {
    QueuePair sender = connected(domain.createQueuePair(QueuePairConfig.xrcSend(sent)));
    sender
        .sendRequests(1)
        .add(1)
        .toSharedReceiveQueue(0xffffff)
        .from(region, 0, 8)
        .signaled()
        .post();
    assertThat(Loopback.await(sent, 1).getFirst().status())
        .isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST);
  }

  /** libmlx5 can open it, but ends the process when it is closed. */
  @Test
  void aQueuePairIsNotOpenedTwice() {
    QueuePair receiver = domain.createQueuePair(QueuePairConfig.xrcReceive(xrcDomain));
    assertThat(device.supports(DeviceOperation.OPEN_QUEUE_PAIR)).isFalse();
    assertThatThrownBy(() -> domain.openQueuePair(xrcDomain, receiver.number()))
        .isInstanceOf(UnsupportedByDeviceException.class)
        .hasMessageContaining("ibv_open_qp(" + receiver.number() + ")")
        .hasMessageContaining("libmlx5 ends the process");
  }

  @Test
  void twoDomainsOfOneFileAreTheSame(@TempDir Path directory) throws IOException {
    Path file = Files.createFile(directory.resolve("shared"));
    assertThatThrownBy(() -> device.openXrcDomain(file, false))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("EAGAIN");
    try (XrcDomain created = device.openXrcDomain(file, true);
        XrcDomain opened = device.openXrcDomain(file, false)) {
      assertThat(opened.handle()).isNotEqualTo(created.handle());
    }
  }
}
