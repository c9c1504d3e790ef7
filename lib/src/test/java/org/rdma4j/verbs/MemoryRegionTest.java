package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.platform.PageMemory;

/** Memory regions whose memory is allocated for them, and the views of that memory. */
@Tag("device")
final class MemoryRegionTest {
  private RdmaDevice device;
  private ProtectionDomain domain;

  @BeforeEach
  void open() {
    device = Loopback.openDevice();
    domain = device.allocateProtectionDomain();
  }

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void aRegionIsPageAlignedAndZeroedAndHasTheRequestedLength() {
    MemoryRegion region = domain.register(10_001, AccessFlag.LOCAL_WRITE);
    assertThat(region.byteSize()).isEqualTo(10_001);
    assertThat(region.segment().byteSize()).isEqualTo(10_001);
    assertThat(region.segment().address() % PageMemory.pageSize()).isZero();
    assertThat(region.remoteAddress()).isEqualTo(region.segment().address());
    assertThat(region.segment().toArray(JAVA_BYTE)).containsOnly(0);
    assertThat(region.domain()).isSameAs(domain);
    assertThat(region.access()).containsExactly(AccessFlag.LOCAL_WRITE);
  }

  @Test
  void eachRegionHasItsOwnKeys() {
    AccessFlag[] all = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE};
    MemoryRegion one = domain.register(1, all);
    MemoryRegion other = domain.register(1, all);
    assertThat(one.localKey()).isNotEqualTo(other.localKey());
    assertThat(one.remoteKey()).isNotZero().isNotEqualTo(other.remoteKey());
  }

  @Tag("needs-large-regions")
  @Test
  void aRegionMayBeLongerThan2GiB() {
    MemoryRegion region = domain.register((1L << 31) + 4096, AccessFlag.LOCAL_WRITE);
    region.segment().set(JAVA_BYTE, 1L << 31, (byte) 5);
    assertThat(region.slice(1L << 31, 1).byteBuffer().get(0)).isEqualTo((byte) 5);
    assertThatThrownBy(region::byteBuffer).isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void allViewsShowTheSameMemory() {
    MemoryRegion region = domain.register(64, AccessFlag.LOCAL_WRITE);
    ByteBuffer buffer = region.byteBuffer();
    assertThat(buffer.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
    buffer.putInt(16, 0x0102_0304);
    MemorySlice slice = region.slice(16, 8);
    assertThat(slice.segment().get(JAVA_BYTE, 3)).isEqualTo((byte) 4);
    assertThat(slice.byteBuffer().getInt(0)).isEqualTo(0x0102_0304);
    assertThat(slice.remoteAddress()).isEqualTo(region.remoteAddress() + 16);
    assertThat(slice.slice(2, 2).segment().toArray(JAVA_BYTE)).containsExactly(3, 4);
    assertThat(slice.slice(2, 2).offset()).isEqualTo(18);
  }

  @Test
  void partsOutsideTheRegionAreRefused() {
    MemoryRegion region = domain.register(64, AccessFlag.LOCAL_WRITE);
    long[][] outside = {{-1, 1}, {0, 65}, {64, 1}, {1, 64}, {0, -1}, {Long.MAX_VALUE, 1}};
    for (long[] part : outside) {
      assertThatThrownBy(() -> region.slice(part[0], part[1]))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("64 bytes");
    }
    assertThat(region.slice(64, 0).length()).isZero();
    assertThatThrownBy(() -> region.slice(16, 8).slice(4, 5))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void lengthsOutOfRangeAreRefused() {
    for (long bytes : new long[] {0, -1, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> domain.register(bytes))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("bytes is " + bytes);
    }
  }

  @Test
  void remoteWriteAndAtomicRequireLocalWrite() {
    for (AccessFlag flag : Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC)) {
      assertThatThrownBy(() -> domain.register(4096, flag))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("LOCAL_WRITE");
    }
  }

  @Test
  void optionalAccessFlagsAreAccepted() {
    assertThat(
            domain.register(4096, AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING).localKey())
        .isNotZero();
  }

  @Test
  void aViewOfAClosedRegionReadsZerosAndDoesNotCrash() {
    MemoryRegion region = domain.register(1 << 20, AccessFlag.LOCAL_WRITE);
    MemorySegment view = region.segment();
    view.fill((byte) 1);
    region.close();
    assertThat(view.get(JAVA_BYTE, 12_345)).isZero();
    view.set(JAVA_BYTE, 12_345, (byte) 1);
  }
}
