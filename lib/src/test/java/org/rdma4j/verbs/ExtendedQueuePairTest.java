package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/** Extended queue pairs: the same requests, posted by {@code ibv_wr_*}. */
@Tag("device")
@Tag("needs-extended-queue-pairs")
@Tag("data-path")
final class ExtendedQueuePairTest {
  private Loopback loopback;
  private MemoryRegion remote;
  private MemoryRegion local;
  private SendRequests sends;

  @BeforeEach
  void connect() {
    loopback =
        Loopback.connected(
            config -> config.extended(Loopback.operations()), path -> path.access(Loopback.ALL));
    remote = loopback.domain.register(4096, Loopback.ALL);
    local = loopback.a.region;
    sends = loopback.a.sends;
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private Loopback.Done post() {
    sends.signaled();
    assertThat(sends.post()).isPositive();
    Loopback.Done done = loopback.a.await(1).getFirst();
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    return done;
  }

  @Test
  void sendsOfOnePieceOfSeveralOfNoneAndInlineArrive() {
    local.segment().copyFrom(MemorySegment.ofArray("abcdef".getBytes(US_ASCII)));
    for (int i = 0; i < 4; i++) {
      loopback.b.receive(i, 64L * i, 64);
    }
    sends.add(1).from(local, 0, 2);
    // All pieces have the same length: ibv_wr_set_sge_list of soft-RoCE counts the length of the
    // first piece for each of them.
    sends.add(2).from(local, 2, 1).from(local, 4, 1);
    sends.add(3);
    sends.add(4).inline(MemorySegment.ofArray(new byte[] {7, 8}), 0, 2);
    assertThat(sends.size()).isEqualTo(4);
    assertThat(post().id()).isEqualTo(4);

    assertThat(loopback.b.await(4))
        .extracting(Loopback.Done::length)
        .containsExactly(2L, 2L, 0L, 2L);
    assertThat(bytes(loopback.b.region, 0, 2)).isEqualTo("ab".getBytes(US_ASCII));
    assertThat(bytes(loopback.b.region, 64, 2)).isEqualTo("ce".getBytes(US_ASCII));
    assertThat(bytes(loopback.b.region, 192, 2)).containsExactly(7, 8);
  }

  @Test
  void immediateDataArrivesAsTheSameNumber() {
    loopback.b.receive(1, 0, 64);
    sends.add(2).sendWithImmediate(0x0102_0304).from(local, 0, 5);
    post();
    assertThat(loopback.b.await(1).getFirst().immediate()).isEqualTo(0x0102_0304);
  }

  @Test
  void writesReadsAndAtomicsChangeMemory() {
    local.segment().set(JAVA_LONG, 0, 5);
    sends.add(1).write(remote.remoteAddress(), remote.remoteKey()).from(local, 0, 8);
    assertThat(post().opcode()).isEqualTo(CompletionOpcode.RDMA_WRITE);
    assertThat(remote.segment().get(JAVA_LONG, 0)).isEqualTo(5);

    sends.add(2).fetchAndAdd(remote.remoteAddress(), remote.remoteKey(), 3).into(local, 8, 8);
    post();
    assertThat(local.segment().get(JAVA_LONG, 8)).isEqualTo(5);

    sends.add(3).compareAndSwap(remote.remoteAddress(), remote.remoteKey(), 8, 100);
    sends.into(local, 16, 8);
    post();
    assertThat(local.segment().get(JAVA_LONG, 16)).isEqualTo(8);

    sends.add(4).read(remote.remoteAddress(), remote.remoteKey()).into(local, 24, 8);
    assertThat(post().opcode()).isEqualTo(CompletionOpcode.RDMA_READ);
    assertThat(local.segment().get(JAVA_LONG, 24)).isEqualTo(100);
  }

  /** The provider posts an atomic write, but the kernel of the guest is too old to support it. */
  @Tag("needs-atomic-writes")
  @Test
  void anAtomicWriteWritesOrIsRefusedByTheKernel() {
    sends.add(1).atomicWrite(remote.remoteAddress(), remote.remoteKey(), 42).signaled();
    assertThat(sends.post()).isEqualTo(1);
    CompletionStatus status = loopback.a.await(1).getFirst().status();
    assertThat(status)
        .isIn(CompletionStatus.SUCCESS, CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
    assertThat(remote.segment().get(JAVA_LONG, 0))
        .isEqualTo(status == CompletionStatus.SUCCESS ? 42 : 0);
  }

  @Tag("needs-atomic-writes")
  @Test
  void anAtomicWriteToAMisalignedAddressIsRefused() {
    sends.add(1);
    assertThatThrownBy(() -> sends.atomicWrite(4, 1, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0x4");
  }

  @Test
  void aWriteWithImmediateTakesAReceive() {
    loopback.b.receive(9, 0, 64);
    sends.add(1).writeWithImmediate(remote.remoteAddress(), remote.remoteKey(), 77);
    sends.from(local, 0, 11);
    post();
    Loopback.Done received = loopback.b.await(1).getFirst();
    assertThat(received.immediate()).isEqualTo(77);
    assertThat(received.length()).isEqualTo(11);
  }

  @Test
  void anOperationThatWasNotRequestedIsRefused() {
    try (QueuePair sendOnly =
        loopback.domain.createQueuePair(
            Loopback.config(loopback.a.queue)
                .ignoreOverrun(true)
                .extended(SendOperation.SEND_WITH_IMMEDIATE))) {
      SendRequests requests = sendOnly.sendRequests(2);
      requests.add(1);
      assertThatThrownBy(() -> requests.write(0, 0)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(requests::send).isInstanceOf(IllegalStateException.class);
      sendOnly.connect(loopback.path(loopback.b.address()));
      assertThatThrownBy(requests::post)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("without SEND");
      requests.sendWithImmediate(1);
      assertThat(requests.post()).isEqualTo(1);
    }
  }

  @Test
  void aFullSendQueuePostsNothingOfTheChainAndKeepsIt() {
    int depth = loopback.a.queuePair.capabilities().sendDepth();
    SendRequests many = loopback.a.queuePair.sendRequests(depth);
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 1000; i++) {
                many.add(i).from(local, 0, 1);
                many.post();
              }
            })
        .isInstanceOf(PostException.class)
        .hasMessageMatching(".*(ENOMEM|ENOSPC).*");
    assertThat(many.size()).isEqualTo(1);
  }

  @Test
  void readsAndWritesOfNoBytesSucceed() {
    sends.add(1).write(remote.remoteAddress(), remote.remoteKey());
    assertThat(post().opcode()).isEqualTo(CompletionOpcode.RDMA_WRITE);
    sends.add(2).read(remote.remoteAddress(), remote.remoteKey());
    assertThat(post().opcode()).isEqualTo(CompletionOpcode.RDMA_READ);
  }

  @Test
  void aDatagramArrives() {
    try (Loopback datagrams = datagrams()) {
      begin(datagrams).from(datagrams.a.region, 0, 10).post();
      assertThat(datagrams.b.await(1).getFirst().length())
          .isEqualTo(GlobalRoutingHeader.BYTES + 10);
    }
  }

  @Test
  void aDatagramOfNoBytesArrives() {
    try (Loopback datagrams = datagrams()) {
      begin(datagrams).post();
      assertThat(datagrams.b.await(1).getFirst().length()).isEqualTo(GlobalRoutingHeader.BYTES);
    }
  }

  @Test
  void aDatagramCarriesImmediateData() {
    try (Loopback datagrams = datagrams()) {
      begin(datagrams).sendWithImmediate(0x0102_0304).from(datagrams.a.region, 0, 1).post();
      assertThat(datagrams.b.await(1).getFirst().immediate()).isEqualTo(0x0102_0304);
    }
  }

  /** Returns a loopback of datagrams whose side b has one receive posted. */
  private static Loopback datagrams() {
    Loopback datagrams =
        Loopback.unconnected(
            config ->
                QueuePairConfig.datagram(Objects.requireNonNull(config.sendCompletions()))
                    .extended(SendOperation.SEND, SendOperation.SEND_WITH_IMMEDIATE));
    datagrams.a.queuePair.startDatagrams(1, 0, 1);
    datagrams.b.queuePair.startDatagrams(1, 0, 1);
    datagrams.b.receive(3, 0, 64);
    return datagrams;
  }

  private static SendRequests begin(Loopback datagrams) {
    int index = Loopback.gidIndex(datagrams.device);
    AddressHandle handle =
        datagrams.domain.createAddressHandle(
            AddressVector.to(datagrams.device.port(1).gid(index), 1, index));
    return datagrams.a.sends.add(4).to(handle, datagrams.b.queuePair.number(), 1);
  }

  private static byte[] bytes(MemoryRegion region, long offset, long length) {
    return region.segment().asSlice(offset, length).toArray(JAVA_BYTE);
  }
}
