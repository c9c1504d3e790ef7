package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.StandIn.assertAsInC;

import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.StandIn;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.attribute.EfaAttributes;
import org.rdma4j.verbs.attribute.EfaCapability;

/** What EFA has in addition to the verbs reaches libefa byte by byte as C calls it. */
@Tag(StandIn.TAG)
final class EfaBytesTest {
  private static final long REMOTE = 0xf1f2f3f4f5f6f7f8L;
  private static final int KEY = 0x81828384;
  private static final int QUEUE_KEY = 0x80010000;
  private static final int IMMEDIATE = 0x91929394;
  private static final Gid PEER = Gid.ofHex("fe8002030405060708090a0b0c0d0e0f");

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue completions =
      device.createCompletionQueue(CompletionQueueConfig.of(1000));

  @AfterEach
  void close() {
    device.close();
  }

  private QueuePairConfig config() {
    return QueuePairConfig.reliableDatagram(completions)
        .sendDepth(101)
        .receiveDepth(102)
        .sendSges(3)
        .receiveSges(4)
        .inlineBytes(105)
        .sequenceNumber(0xfedcba);
  }

  @Test
  void whatTheDeviceReports() {
    assertThat(device.efaAttributes())
        .isEqualTo(
            new EfaAttributes(
                0x71727374,
                0x61626364,
                0xf1f2,
                0xe1e2,
                0xd1d2,
                0xc1c2c3c4L,
                EnumSet.of(
                    EfaCapability.READ,
                    EfaCapability.RNR_RETRY,
                    EfaCapability.SOURCE_GID,
                    EfaCapability.WRITE)));
  }

  @Test
  void aQueuePair() {
    assertAsInC(
        "create_reliable_datagrams",
        () ->
            domain.createQueuePair(
                config()
                    .extended(
                        SendOperation.SEND,
                        SendOperation.READ,
                        SendOperation.WRITE_WITH_IMMEDIATE)));
  }

  @Test
  void itsStart() {
    QueuePair queuePair = domain.createQueuePair(config());
    assertAsInC("start_reliable_datagrams", () -> queuePair.startDatagrams(1, 0, QUEUE_KEY, 5));
  }

  @Test
  void itsRequests() {
    QueuePair queuePair =
        domain.createQueuePair(
            config()
                .extended(
                    SendOperation.SEND,
                    SendOperation.SEND_WITH_IMMEDIATE,
                    SendOperation.READ,
                    SendOperation.WRITE,
                    SendOperation.WRITE_WITH_IMMEDIATE));
    queuePair.startDatagrams(1, 0, QUEUE_KEY);
    AddressHandle handle = domain.createAddressHandle(AddressVector.to(PEER, 1, 0));
    MemoryRegion region = domain.register(8192, AccessFlag.LOCAL_WRITE);
    SendRequests requests = queuePair.sendRequests(5);
    assertAsInC(
        "wr_reliable_datagrams",
        () -> {
          requests.add(1).from(region, 16, 32).from(region, 100, 0xff).signaled();
          requests.to(handle, 0xabcdef, QUEUE_KEY);
          requests.add(2).to(handle, 0xabcdee, QUEUE_KEY + 1).signaled();
          requests.read(REMOTE, KEY).into(region, 8, 8);
          requests.add(3).write(REMOTE + 1, KEY + 1).from(region, 8, 8).signaled();
          requests.to(handle, 0xabcded, QUEUE_KEY + 2);
          requests.add(4).to(handle, 0xabcdec, QUEUE_KEY + 3).signaled();
          requests.writeWithImmediate(REMOTE + 2, KEY + 2, IMMEDIATE).from(region, 8, 8);
          requests.add(5).sendWithImmediate(IMMEDIATE).inline(region, 8, 8).signaled();
          requests.to(handle, 0xabcdeb, QUEUE_KEY + 4).post();
        });
  }

  @Test
  void aQueueWhoseCompletionsHaveTheirSenders() {
    CompletionQueueConfig config =
        CompletionQueueConfig.of(1004)
            .extended(CompletionField.SOURCE_LID, CompletionField.SOURCE_GID);
    assertAsInC("create_queue_with_senders", () -> device.createCompletionQueue(config));
    CompletionQueue queue = device.createCompletionQueue(config);
    StandIn.call("complete_three");
    Completions polled = queue.completions(3);
    assertThat(polled.poll()).isEqualTo(3);
    boolean found = false;
    for (int i = 0; i < 3; i++) {
      boolean isReceive = polled.isSuccess(i) && polled.opcode(i).name().contains("RECEIVE");
      assertThat(polled.sourceGid(i).isPresent()).isEqualTo(isReceive);
      found |= polled.sourceGid(i).filter(PEER::equals).isPresent();
    }
    assertThat(found).isTrue();
  }

  @Test
  void theNumberOfAnAddressHandle() {
    AddressHandle handle = domain.createAddressHandle(AddressVector.to(PEER, 1, 0));
    assertAsInC("query_address_handle", () -> assertThat(handle.number()).isEqualTo(0xb1b2));
  }
}
