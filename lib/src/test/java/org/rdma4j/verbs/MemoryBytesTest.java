package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.StandIn.assertAsInC;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.RdmaException;
import org.rdma4j.Reading;
import org.rdma4j.StandIn;
import org.rdma4j.bindings.generated.rdma_h;

/** Memory is described to C as C does it, also for operations that no software device has. */
@Tag(StandIn.TAG)
final class MemoryBytesTest {
  private static final long BIG = 0x123456789aL;

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void aRegion() {
    assertAsInC(
        "register_memory",
        () -> domain.register(5000, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
  }

  @Test
  void aRegionWithFlagsThatOldKernelsDoNotKnow() {
    assertAsInC(
        "register_with_every_flag",
        () ->
            domain.register(
                5000,
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_ATOMIC,
                AccessFlag.MEMORY_WINDOW_BIND,
                AccessFlag.ON_DEMAND,
                AccessFlag.RELAXED_ORDERING));
  }

  @Test
  void aRegionThatPeersMayFlush() {
    assertAsInC(
        "register_to_be_flushed",
        () ->
            domain.register(
                5000,
                AccessFlag.REMOTE_READ,
                AccessFlag.FLUSH_GLOBAL,
                AccessFlag.FLUSH_PERSISTENT));
  }

  @Test
  void aRegionAtAnotherAddress() {
    assertAsInC(
        "register_at_another_address",
        () ->
            domain.register(
                MemoryRegionConfig.allocate(4096)
                    .access(AccessFlag.REMOTE_READ)
                    .remoteAddress(0xfedcba9876543000L)));
  }

  @Test
  void aDmaBuffer() {
    assertAsInC(
        "register_a_dma_buffer",
        () ->
            domain.register(
                MemoryRegionConfig.ofDmaBuffer(0x7fff, BIG, BIG + 1)
                    .remoteAddress(0xf1f2f3f4f5f6f89aL)
                    .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)));
  }

  @Test
  void theAddressOfADmaBufferIsItsOffset() {
    MemoryRegion[] region = new MemoryRegion[1];
    assertAsInC(
        "register_a_dma_buffer_at_its_offset",
        () -> region[0] = domain.register(MemoryRegionConfig.ofDmaBuffer(0x7fff, BIG, 4096)));
    assertThat(region[0].remoteAddress()).isEqualTo(BIG);
  }

  @Test
  void aNullRegion() {
    assertAsInC("allocate_a_null_region", () -> domain.register(MemoryRegionConfig.nullRegion()));
  }

  @Test
  void allMemory() {
    assertAsInC("register_all_memory", domain::registerImplicit);
    ImplicitRegion region = domain.registerImplicit();
    assertAsInC("deregister_all_memory", region::close);
    assertThatThrownBy(region::handle)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("implicit memory region of standin is closed");
  }

  @Test
  void importedObjects() {
    assertAsInC("import_a_region", () -> domain.importRegion(0xf1f2f3f4, 0x1000));
    MemoryRegion region = domain.importRegion(0xf1f2f3f4, 0x1000);
    assertThat(region.byteSize()).isEqualTo(0x12345);
    assertThat(region.remoteAddress()).isEqualTo(0x1000);
    assertAsInC("unimport_the_region", region::close);
    assertAsInC("import_device_memory", () -> device.importDeviceMemory(0xf1f2f3f4, 4096));
    assertAsInC("unimport_device_memory", device.importDeviceMemory(0xf1f2f3f4, 4096)::close);
    assertAsInC("import_a_domain", () -> device.importProtectionDomain(0xf1f2f3f4));
    ProtectionDomain imported = device.importProtectionDomain(0xf1f2f3f4);
    assertThat(imported.kernelHandle()).isEqualTo(0xf1f2f3f4);
    assertAsInC("unimport_the_domain", imported::close);
  }

  @Test
  void deviceMemory() {
    assertAsInC("allocate_device_memory", () -> device.allocateDeviceMemory(BIG, 12));
    DeviceMemory memory = device.allocateDeviceMemory(BIG, 12);
    byte[] written = "sixteen bytes...".getBytes(US_ASCII);
    byte[] read = new byte[written.length];
    assertAsInC(
        "use_device_memory",
        () -> {
          memory.write(BIG - 24, MemorySegment.ofArray(written));
          memory.read(BIG - 24, MemorySegment.ofArray(read));
          domain.register(
              MemoryRegionConfig.of(memory, BIG - 4096, 4095)
                  .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        });
    assertThat(read).isEqualTo(written);
    assertAsInC("free_device_memory", device.allocateDeviceMemory(1, 0)::close);
  }

  @Test
  void advice() {
    MemoryRegion region = domain.register(8192, AccessFlag.LOCAL_WRITE);
    assertAsInC(
        "advise",
        () ->
            domain.advise(
                MemoryAdvice.PREFETCH_NO_FAULT, true, region.slice(1, 2), region.slice(3, 4000)));
  }

  @Test
  void windows() {
    assertAsInC(
        "allocate_windows",
        () -> {
          domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
          domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        });
    assertAsInC(
        "deallocate_the_window", domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)::close);
  }

  @Test
  void keysAndHandles() {
    MemoryRegion region = domain.register(5000, AccessFlag.LOCAL_WRITE);
    DeviceMemory memory = device.allocateDeviceMemory(64, 0);
    MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
    assertThat(
            new Reading()
                .line("read_handles")
                .number("lkey", region.localKey())
                .number("rkey", region.remoteKey())
                .number("length", region.byteSize())
                .number("addr", region.remoteAddress())
                .number("mr", region.kernelHandle())
                .number("pd", domain.kernelHandle())
                .number("dm", memory.kernelHandle())
                .number("mw", window.remoteKey()))
        .hasToString(StandIn.transcriptOfC("read_handles"));
  }

  @Test
  void aReregistrationOfEverything() {
    MemoryRegion before = domain.register(4096, AccessFlag.REMOTE_READ);
    MemorySegment memory = before.segment();
    memory.fill((byte) 0x5a);
    final int localKey = before.localKey();
    final int remoteKey = before.remoteKey();
    ProtectionDomain other = device.allocateProtectionDomain();
    MemoryRegion[] after = new MemoryRegion[1];
    assertAsInC(
        "reregister_everything",
        () ->
            after[0] =
                before.reregister(
                    MemoryRegionChange.none()
                        .domain(other)
                        .allocate(8192)
                        .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)));
    assertThat(after[0].domain()).isSameAs(other);
    assertThat(after[0].access())
        .containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    assertThat(after[0].byteSize()).isEqualTo(8192);
    assertThat(after[0].segment().byteSize()).isEqualTo(8192);
    assertThat(after[0].remoteAddress()).isEqualTo(after[0].segment().address());
    assertThat(after[0].localKey()).isNotEqualTo(localKey);
    assertThat(after[0].remoteKey()).isNotEqualTo(remoteKey);
    assertThat(memory.toArray(JAVA_BYTE))
        .as("the old memory, which reads as zeros once it is freed")
        .containsOnly(0);
    assertThatThrownBy(before::localKey).isInstanceOf(IllegalStateException.class);
    after[0].segment().fill((byte) 0x5a);
    assertThat(after[0].segment().get(JAVA_BYTE, 8191)).isEqualTo((byte) 0x5a);
  }

  /** The C struct lives on: it is deregistered once, when the last region is closed. */
  @Test
  void aReregisteredRegionIsDeregisteredOnceAndItsMemoryIsFreed() {
    MemoryRegion before = domain.register(4096, AccessFlag.LOCAL_WRITE);
    MemorySegment memory = before.segment();
    MemoryRegion[] after = new MemoryRegion[1];
    assertAsInC(
        "reregister_access",
        () ->
            after[0] = before.reregister(MemoryRegionChange.none().access(AccessFlag.REMOTE_READ)));
    assertThat(after[0].segment().address()).isEqualTo(memory.address());
    memory.fill((byte) 0x5a);
    assertThat(StandIn.transcriptOf(before::close)).isEmpty();
    assertThat(memory.get(JAVA_BYTE, 0)).as("still registered").isEqualTo((byte) 0x5a);
    assertAsInC("deregister", after[0]::close);
    assertThat(memory.get(JAVA_BYTE, 0)).as("freed").isZero();
  }

  @Test
  void aRegionThatAFailedReregistrationLeftUsableStaysOpen() {
    MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
    MemorySegment memory = region.segment();
    memory.fill((byte) 0x5a);
    StandIn.answer(rdma_h.IBV_REREG_MR_ERR_INPUT());
    assertThatThrownBy(() -> region.reregister(MemoryRegionChange.none().allocate(8192)))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ENOMEM");
    assertThat(region.segment()).isEqualTo(memory);
    assertThat(memory.get(JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
  }

  @ParameterizedTest
  @ValueSource(ints = {-4, -5})
  void aRegionThatAFailedReregistrationMadeUnusableIsClosed(int result) {
    assertThat(result)
        .isIn(rdma_h.IBV_REREG_MR_ERR_CMD(), rdma_h.IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW());
    MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
    StandIn.answer(result);
    assertThatThrownBy(() -> region.reregister(MemoryRegionChange.none().allocate(8192)))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("unusable");
    assertThatThrownBy(region::segment).isInstanceOf(IllegalStateException.class);
  }

  /** This failure concerns only children of this process: the new registration is valid. */
  @Test
  void aReregistrationWhoseOldMemoryStaysUnsharedWithChildrenSucceeds() {
    MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
    StandIn.answer(rdma_h.IBV_REREG_MR_ERR_DO_FORK_OLD());
    MemoryRegion after = region.reregister(MemoryRegionChange.none().allocate(8192));
    assertThat(after.byteSize()).isEqualTo(8192);
  }
}
