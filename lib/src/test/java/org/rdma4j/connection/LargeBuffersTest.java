package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;

@Tag("device")
final class LargeBuffersTest {
  private static final long MIB = 1 << 20;

  /** As many of 1 MiB as are kept. */
  private static final int MANY = 64;

  private RdmaDevice device;
  private ProtectionDomain domain;
  private LargeBuffers buffers;

  @BeforeEach
  void open() throws Exception {
    device = RdmaDevice.open(RdmaDevice.list().getFirst().name());
    domain = device.allocateProtectionDomain();
    buffers = new LargeBuffers(domain);
  }

  @AfterEach
  void close() {
    domain.close();
    device.close();
  }

  private void useAtOnce(int count, long bytes) {
    List<Slot> used = Stream.generate(() -> buffers.take(bytes)).limit(count).toList();
    used.forEach(Slot::free);
  }

  @Test
  void aBufferIsUsedAgainAlsoAfterManyOfAnotherLength() {
    useAtOnce(MANY, MIB);
    Slot first = buffers.take(64 << 10);
    first.free();
    assertThat(buffers.take(64 << 10)).isSameAs(first);
  }

  @Test
  void noMoreMemoryIsKeptThanSixtyFourMebibytes() {
    useAtOnce(MANY, MIB);
    useAtOnce(2 * MANY, MIB / 2);
    useAtOnce(1, 65 * MIB);
    assertThat(buffers.registeredBytes()).isEqualTo(64 * MIB);
    useAtOnce(1, 3 * MIB);
    assertThat(buffers.registeredBytes()).isLessThanOrEqualTo(64 * MIB).isGreaterThan(60 * MIB);
  }

  @Test
  void whatWasNotUsedForLongestIsGivenUpFirst() {
    Slot old = buffers.take(MIB);
    Slot young = buffers.take(2 * MIB);
    old.free();
    young.free();
    useAtOnce(60, MIB / 2);
    useAtOnce(1, 32 * MIB);
    assertThat(buffers.take(2 * MIB)).isSameAs(young);
    assertThat(buffers.take(MIB)).isNotSameAs(old);
  }
}
