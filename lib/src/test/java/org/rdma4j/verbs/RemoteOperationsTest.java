package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads, writes and atomics of remote memory, in which the peer's program takes no part. */
@Tag("device")
@Tag("data-path")
final class RemoteOperationsTest {
  private Loopback loopback;
  private MemoryRegion remote;
  private MemoryRegion local;
  private SendRequests sends;

  @BeforeEach
  void connect() {
    loopback = Loopback.connected(config -> config, path -> path.access(Loopback.ALL));
    remote = loopback.domain.register(1 << 20, Loopback.ALL);
    local = loopback.a.region;
    sends = loopback.a.sends;
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 1023, 1024, 1025, 1 << 19})
  void aWritePutsTheLocalBytesIntoTheRemoteMemory(long length) {
    byte[] bytes = random(length);
    MemorySegment.copy(bytes, 0, local.segment(), JAVA_BYTE, 64, bytes.length);

    sends.add(1).write(remote.remoteAddress() + 100, remote.remoteKey());
    sends.from(local, 64, length).signaled();
    sends.post();

    Loopback.Done done = loopback.a.await(1).getFirst();
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(done.opcode()).isEqualTo(CompletionOpcode.RDMA_WRITE);
    assertThat(bytes(remote, 100, length)).isEqualTo(bytes);
    assertThat(bytes(remote, 100 + length, 8)).containsOnly(0);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 1023, 1024, 1025, 1 << 19})
  void aReadPutsTheRemoteBytesIntoTheLocalMemory(long length) {
    byte[] bytes = random(length);
    MemorySegment.copy(bytes, 0, remote.segment(), JAVA_BYTE, 7, bytes.length);

    sends.add(1).read(remote.remoteAddress() + 7, remote.remoteKey());
    sends.into(local, 64, length).signaled();
    sends.post();

    Loopback.Done done = loopback.a.await(1).getFirst();
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(done.opcode()).isEqualTo(CompletionOpcode.RDMA_READ);
    assertThat(bytes(local, 64, length)).isEqualTo(bytes);
    assertThat(bytes(local, 64 + length, 8)).containsOnly(0);
  }

  @Tag("needs-immediate-data")
  @Test
  void memoryThatThePeerHasNamedIsWrittenAndRead() {
    RemoteMemory named = RemoteMemory.of(remote).slice(512, 64);
    MemorySegment source = MemorySegment.ofArray(new byte[] {5, 6});
    loopback.b.receive(5, 0, 64);
    local.segment().asSlice(0, 16).fill((byte) 9);

    sends.add(1).write(named, 0, 16).from(local, 0, 10).from(local, 10, 6);
    sends.add(2).write(named, 62, 2).inline(source, 0, 2);
    sends.add(3).writeWithImmediate(named, 20, 4, 77).from(local, 0, 4);
    sends.add(4).read(named, 0, 64).into(local, 100, 64).signaled();
    sends.post();

    assertSuccess();
    assertThat(loopback.b.await(1).getFirst().immediate()).isEqualTo(77);
    byte[] expected = new byte[66];
    Arrays.fill(expected, 1, 17, (byte) 9);
    Arrays.fill(expected, 21, 25, (byte) 9);
    expected[63] = 5;
    expected[64] = 6;
    assertThat(bytes(remote, 511, 66)).isEqualTo(expected);
    assertThat(bytes(local, 100, 64)).isEqualTo(Arrays.copyOfRange(expected, 1, 65));
  }

  @Tag("needs-atomics")
  @Test
  void memoryThatThePeerHasNamedIsChangedAtomically() {
    RemoteMemory named = RemoteMemory.of(remote).slice(512, 16);
    remote.segment().set(JAVA_LONG, 520, 41L);
    sends.add(1).compareAndSwap(named, 8, 41, 42).into(local, 0, 8);
    sends.add(2).fetchAndAdd(named, 8, 8).into(local, 8, 8).signaled();
    sends.post();

    assertSuccess();
    assertThat(local.segment().get(JAVA_LONG, 0)).isEqualTo(41);
    assertThat(local.segment().get(JAVA_LONG, 8)).isEqualTo(42);
    assertThat(remote.segment().get(JAVA_LONG, 520)).isEqualTo(50);
  }

  @Test
  void aPartThatIsNotWithinTheNamedMemoryIsRefused() {
    RemoteMemory named = RemoteMemory.of(remote).slice(512, 64);
    sends.add(1);
    List<ThrowingCallable> uses =
        List.of(
            () -> sends.write(named, 60, 5),
            () -> sends.writeWithImmediate(named, -1, 1, 0),
            () -> sends.read(named, 0, 65),
            () -> sends.compareAndSwap(named, 57, 0, 0),
            () -> sends.fetchAndAdd(named, 64, 0),
            () -> sends.atomicWrite(named, Long.MAX_VALUE, 0),
            () -> sends.flush(named, 64, 1, FlushType.GLOBAL));
    for (ThrowingCallable use : uses) {
      assertThatThrownBy(use)
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("the 64 bytes of the remote memory");
    }
  }

  @Test
  void aRequestHasNoMoreBytesThanThePartThatItNames() {
    RemoteMemory named = RemoteMemory.of(remote);
    MemorySegment source = MemorySegment.ofArray(new byte[9]);
    sends.add(1).write(named, 0, 8).from(local, 0, 4);
    assertTooLong(() -> sends.from(local, 4, 5), 9);
    sends.from(local, 4, 4);
    assertTooLong(() -> sends.from(local, 0, 1), 9);
    sends.add(2).write(named, 0, 8);
    assertTooLong(() -> sends.inline(source, 0, 9), 9);
    sends.inline(source, 0, 8);
    assertTooLong(() -> sends.inline(source, 0, 1), 9);
    sends.add(3).from(local, 0, 10);
    assertTooLong(() -> sends.write(named, 0, 8), 10);
    sends.write(named.address(), named.key());
    sends.add(4).write(named.address(), named.key()).from(local, 0, 100).signaled();
    sends.post();
    assertSuccess();
  }

  private static void assertTooLong(ThrowingCallable use, int bytes) {
    assertThatThrownBy(use)
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("the pieces of the request have " + bytes + " bytes")
        .hasMessageContaining("at most the 8 bytes of the remote memory");
  }

  @Tag("needs-immediate-data")
  @Test
  void theReceiveOfAWriteWithImmediateContainsTheLength() {
    loopback.b.receive(5, 0, 64);
    local.segment().fill((byte) 9);
    sends.add(1).writeWithImmediate(remote.remoteAddress(), remote.remoteKey(), 0xdead_beef);
    sends.from(local, 0, 33);
    sends.post();

    Loopback.Done received = loopback.b.await(1).getFirst();
    assertThat(received.id()).isEqualTo(5);
    assertThat(received.opcode()).isEqualTo(CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
    assertThat(received.immediate()).isEqualTo(0xdead_beef);
    assertThat(received.length()).isEqualTo(33);
    assertThat(bytes(remote, 0, 34)).endsWith(9, 0).startsWith(9);
  }

  @Test
  void anInlineWriteCopiesTheBytesWhenItIsAdded() {
    MemorySegment source = MemorySegment.ofArray(new byte[] {1, 2, 3});
    sends.add(1).write(remote.remoteAddress(), remote.remoteKey()).inline(source, 0, 3).signaled();
    source.fill((byte) 0);
    sends.post();

    assertSuccess();
    assertThat(bytes(remote, 0, 4)).containsExactly(1, 2, 3, 0);
  }

  @Tag("needs-atomics")
  @Test
  void compareAndSwapReplacesTheExpectedValueAndReturnsTheOldOne() {
    remote.segment().set(JAVA_LONG, 8, 41L);
    sends.add(1).compareAndSwap(remote.remoteAddress() + 8, remote.remoteKey(), 41, 42);
    sends.into(local, 0, 8).signaled();
    sends.post();

    assertThat(loopback.a.await(1).getFirst().opcode())
        .isEqualTo(CompletionOpcode.COMPARE_AND_SWAP);
    assertThat(local.segment().get(JAVA_LONG, 0)).isEqualTo(41);
    assertThat(remote.segment().get(JAVA_LONG, 8)).isEqualTo(42);
  }

  @Tag("needs-atomics")
  @Test
  void compareAndSwapKeepsAnUnexpectedValue() {
    remote.segment().set(JAVA_LONG, 8, 40L);
    sends.add(1).compareAndSwap(remote.remoteAddress() + 8, remote.remoteKey(), 41, 42);
    sends.into(local, 0, 8).signaled();
    sends.post();

    assertSuccess();
    assertThat(local.segment().get(JAVA_LONG, 0)).isEqualTo(40);
    assertThat(remote.segment().get(JAVA_LONG, 8)).isEqualTo(40);
  }

  @Tag("needs-atomics")
  @Test
  void fetchAndAddAddsAndReturnsTheOldValue() {
    remote.segment().set(JAVA_LONG, 16, -3L);
    sends.add(1).fetchAndAdd(remote.remoteAddress() + 16, remote.remoteKey(), 10);
    sends.into(local, 0, 8).signaled();
    sends.post();

    assertThat(loopback.a.await(1).getFirst().opcode()).isEqualTo(CompletionOpcode.FETCH_AND_ADD);
    assertThat(local.segment().get(JAVA_LONG, 0)).isEqualTo(-3);
    assertThat(remote.segment().get(JAVA_LONG, 16)).isEqualTo(7);
  }

  @Tag("needs-atomics")
  @Test
  void anAtomicAtAMisalignedAddressIsRefused() {
    sends.add(1);
    assertThatThrownBy(() -> sends.fetchAndAdd(remote.remoteAddress() + 4, remote.remoteKey(), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("divisible by 8");
    assertThatThrownBy(
            () -> sends.compareAndSwap(remote.remoteAddress() + 1, remote.remoteKey(), 1, 2))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Tag("needs-atomics")
  @Test
  void anAtomicOnARegionWithoutTheAccessIsRefusedByThePeer() {
    MemoryRegion readOnly =
        loopback.domain.register(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    sends.add(1).fetchAndAdd(readOnly.remoteAddress(), readOnly.remoteKey(), 1);
    sends.into(local, 0, 8).signaled();
    sends.post();

    assertThat(loopback.a.await(1).getFirst().status())
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Tag("needs-atomics")
  @Test
  void anAtomicOnAQueuePairWithoutTheAccessIsRefusedByThePeer() {
    loopback.b.queuePair.modify(QueuePairChange.none().access(List.of(AccessFlag.REMOTE_READ)));
    // The status of the specification, and the status that soft-RoCE reports instead.
    assertThat(fetchAndAdd(remote.remoteKey()))
        .isIn(CompletionStatus.REMOTE_ACCESS_ERROR, CompletionStatus.REMOTE_INVALID_REQUEST);
  }

  @Tag("needs-atomics")
  @Test
  void anAtomicWithAWrongKeyIsRefusedByThePeer() {
    assertThat(fetchAndAdd(remote.remoteKey() ^ 0x7f00))
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  private CompletionStatus fetchAndAdd(int key) {
    sends.add(1).fetchAndAdd(remote.remoteAddress(), key, 1).into(local, 0, 8).signaled();
    sends.post();
    return loopback.a.await(1).getFirst().status();
  }

  @Tag("needs-remote-errors")
  @Test
  void aWrongKeyIsRefusedByThePeer() {
    sends.add(1).read(remote.remoteAddress(), remote.remoteKey() ^ 0x7f00);
    sends.into(local, 0, 8).signaled();
    sends.post();

    assertThat(loopback.a.await(1).getFirst().status())
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Tag("needs-remote-errors")
  @Test
  void anAddressOutsideTheRegionIsRefusedByThePeer() {
    sends.add(1).write(remote.remoteAddress() + remote.byteSize() - 4, remote.remoteKey());
    sends.from(local, 0, 8).signaled();
    sends.post();

    assertThat(loopback.a.await(1).getFirst().status())
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void aFencedRequestSeesTheResultOfThePreviousRead() {
    remote.segment().set(JAVA_LONG, 0, 77L);
    sends.add(1).read(remote.remoteAddress(), remote.remoteKey()).into(local, 0, 8);
    sends.add(2).write(remote.remoteAddress() + 8, remote.remoteKey()).from(local, 0, 8);
    sends.fenced().signaled();
    sends.post();

    assertSuccess();
    assertThat(remote.segment().get(JAVA_LONG, 8)).isEqualTo(77);
  }

  @Tag("needs-atomics")
  @Tag("needs-datagrams")
  @Test
  void aQueuePairOfDatagramsRefusesRemoteAccess() {
    try (QueuePair datagrams =
        loopback.domain.createQueuePair(
            QueuePairConfig.datagram(loopback.a.queue).ignoreOverrun(true))) {
      SendRequests requests = datagrams.sendRequests(1);
      assertThatThrownBy(() -> requests.add(1).write(0, 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("UNRELIABLE_DATAGRAM");
      assertThatThrownBy(() -> requests.read(0, 0)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> requests.compareAndSwap(0, 0, 0, 0))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> requests.fetchAndAdd(0, 0, 0))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> requests.invalidate(0)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> requests.sendWithInvalidate(0))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  private void assertSuccess() {
    assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  private static byte[] random(long length) {
    byte[] bytes = new byte[(int) length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static byte[] bytes(MemoryRegion region, long offset, long length) {
    return region.segment().asSlice(offset, length).toArray(JAVA_BYTE);
  }
}
