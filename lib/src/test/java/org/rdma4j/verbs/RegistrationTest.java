package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.RdmaException;
import org.rdma4j.platform.PageMemory;

/** Regions of every kind of memory, each of which carries a message. */
@Tag("device")
final class RegistrationTest {
  private static final int EOPNOTSUPP = 95;
  private static final int LENGTH = 10_001;

  private Loopback loopback;
  private ProtectionDomain domain;

  @BeforeEach
  void connect() {
    loopback = Loopback.connected();
    domain = loopback.domain;
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private MemoryRegion register(MemoryRegionConfig config) {
    return domain.register(config.access(AccessFlag.LOCAL_WRITE));
  }

  private MemoryRegion ordinary() {
    return domain.register(LENGTH, AccessFlag.LOCAL_WRITE);
  }

  @Test
  void memoryOfAnAutomaticArenaOfAnyAlignmentCarriesMessages() {
    MemorySegment memory = Arena.ofAuto().allocate(LENGTH + 3, 1).asSlice(3);
    MemoryRegion region = register(MemoryRegionConfig.of(memory));
    assertThat(region.segment()).isSameAs(memory);
    assertThat(region.remoteAddress()).isEqualTo(memory.address());
    Messages.cross(loopback, ordinary(), region);
    Messages.cross(loopback, region, ordinary());
  }

  @Test
  void aDirectBufferCarriesMessages() {
    MemorySegment memory = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(LENGTH));
    Messages.cross(loopback, ordinary(), register(MemoryRegionConfig.of(memory)));
  }

  @Test
  void memoryOfAConfinedArenaCarriesMessages() {
    try (Arena arena = Arena.ofConfined()) {
      MemoryRegion region = register(MemoryRegionConfig.of(arena, arena.allocate(LENGTH)));
      Messages.cross(loopback, ordinary(), region);
    }
  }

  @Test
  void aMappedFileReceivesMessages(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("received");
    byte[] sent = Messages.random(LENGTH);
    try (Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment mapped = channel.map(MapMode.READ_WRITE, 0, LENGTH, arena);
      MemoryRegion region = register(MemoryRegionConfig.of(arena, mapped));
      MemoryRegion source = ordinary();
      source.segment().copyFrom(MemorySegment.ofArray(sent));
      Messages.send(loopback, source.slice(0, LENGTH), region.slice(0, LENGTH));
    }
    assertThat(Files.readAllBytes(file)).isEqualTo(sent);
  }

  @Test
  void aFileIsSentThroughAPrivateMapping(@TempDir Path directory) throws IOException {
    byte[] content = Messages.random(LENGTH);
    Path file = Files.write(directory.resolve("sent"), content);
    MemoryRegion target = ordinary();
    try (Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment mapped = channel.map(MapMode.PRIVATE, 0, LENGTH, arena);
      MemoryRegion region = domain.register(MemoryRegionConfig.of(arena, mapped.asReadOnly()));
      Messages.send(loopback, region.slice(0, LENGTH), target.slice(0, LENGTH));
    }
    assertThat(target.segment().toArray(JAVA_BYTE)).isEqualTo(content);
  }

  @Test
  void aReadOnlySegmentIsRefusedWithLocalWrite() {
    MemorySegment readOnly = Arena.ofAuto().allocate(LENGTH).asReadOnly();
    assertThatThrownBy(() -> register(MemoryRegionConfig.of(readOnly)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("read-only");
  }

  @Test
  void hugePagesCarryMessages() throws IOException {
    Path reserved = Path.of("/proc/sys/vm/nr_hugepages");
    String before = Files.readString(reserved);
    Files.writeString(reserved, "4");
    try {
      MemoryRegion region = register(MemoryRegionConfig.allocate(3L << 20, HugePages.OF_2_MIB));
      assertThat(region.segment().address() % HugePages.OF_2_MIB.pageSize()).isZero();
      assertThat(region.byteSize()).isEqualTo(3L << 20);
      assertThat(freeHugePages()).isEqualTo(2);
      MemoryRegion target = domain.register(3L << 20, AccessFlag.LOCAL_WRITE);
      Messages.cross(loopback, region, target);
      MemorySegment view = region.segment();
      region.close();
      assertThat(freeHugePages()).as("free pages after the close").isEqualTo(4);
      assertThat(view.get(JAVA_BYTE, 12_345)).as("a view after the close").isZero();
    } finally {
      Files.writeString(reserved, before);
    }
  }

  private static int freeHugePages() throws IOException {
    Path free = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    return Integer.parseInt(Files.readString(free).strip());
  }

  @Test
  void missingHugePagesAreRefusedWithTheSettingThatHelps() {
    for (HugePages pages : HugePages.values()) {
      assertThatThrownBy(() -> register(MemoryRegionConfig.allocate(1L << 40, pages)))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("MAP_HUGETLB")
          .hasMessageContaining("vm.nr_hugepages")
          .hasMessageContaining("free huge pages of " + (pages.pageSize() >> 20) + " MiB");
    }
  }

  @Tag("needs-configured-remote-addresses")
  @Test
  void requestsAndPeersUseTheConfiguredRemoteAddress() {
    MemoryRegion region =
        register(MemoryRegionConfig.allocate(LENGTH).remoteAddress(0x7000_0000_0000_0000L));
    assertThat(region.remoteAddress()).isEqualTo(0x7000_0000_0000_0000L);
    assertThat(region.slice(5, 1).remoteAddress()).isEqualTo(0x7000_0000_0000_0005L);
    Messages.cross(loopback, ordinary(), region);
    Messages.cross(loopback, region, ordinary());
  }

  @Tag("needs-zero-based-regions")
  @Test
  void aZeroBasedRegionBeginsAtZero() {
    MemoryRegion region = domain.register(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED);
    assertThat(region.remoteAddress()).isZero();
    Messages.cross(loopback, ordinary(), region);
  }

  @Test
  void aRemoteAddressWithAnotherOffsetInItsPageIsRefused() {
    MemorySegment memory =
        Arena.ofAuto().allocate(LENGTH, PageMemory.pageSize()).asSlice(16, LENGTH - 16);
    assertThat(register(MemoryRegionConfig.of(memory).remoteAddress(0x10_0010)).localKey())
        .isNotZero();
    assertThatThrownBy(() -> register(MemoryRegionConfig.of(memory).remoteAddress(0x10_0000)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("remoteAddress is 0x100000, must be 16 modulo");
  }

  @Test
  void aRemoteAddressThatWouldWrapAroundIsRefused() {
    MemoryRegionConfig config = MemoryRegionConfig.allocate(2 * PageMemory.pageSize());
    assertThatThrownBy(() -> register(config.remoteAddress(-PageMemory.pageSize())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be at most 0xffff");
  }

  @Test
  void aPartCanBeRegisteredOnceMoreAndClosesWithTheWhole() {
    MemoryRegion whole = domain.register(2 * LENGTH);
    MemoryRegion part = register(MemoryRegionConfig.of(whole.slice(LENGTH, LENGTH)));
    assertThat(part.localKey()).isNotEqualTo(whole.localKey());
    Messages.cross(loopback, ordinary(), part);
    assertThat(whole.segment().asSlice(LENGTH).mismatch(part.segment())).isEqualTo(-1);
    whole.close();
    assertThatThrownBy(part::localKey).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aPartMayCloseBeforeTheWhole() {
    MemoryRegion whole = ordinary();
    register(MemoryRegionConfig.of(whole.slice(0, 100))).close();
    Messages.cross(loopback, whole, ordinary());
  }

  @Test
  void memoryOnTheHeapIsRefused() {
    assertThatThrownBy(() -> MemoryRegionConfig.of(MemorySegment.ofArray(new byte[10])))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("on the Java heap");
  }

  @Test
  void emptyMemoryIsRefused() {
    assertThatThrownBy(() -> MemoryRegionConfig.of(Arena.ofAuto().allocate(1).asSlice(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("length of the memory is 0");
  }

  @Test
  void anArenaThatCanBeClosedMustBePassed() {
    try (Arena shared = Arena.ofShared();
        Arena confined = Arena.ofConfined()) {
      for (Arena arena : new Arena[] {shared, confined}) {
        MemorySegment memory = arena.allocate(10);
        assertThatThrownBy(() -> MemoryRegionConfig.of(memory))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("pass the arena too");
        assertThatThrownBy(() -> MemoryRegionConfig.of(Arena.ofAuto(), memory))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("another arena");
      }
    }
  }

  @Test
  void anArenaClosesItsRegionsBeforeItFreesTheirMemory() {
    List<MemoryRegion> regions = new ArrayList<>();
    AtomicReference<Boolean> closedFirst = new AtomicReference<>();
    try (Arena arena = Arena.ofShared()) {
      // An arena runs its cleanups in reverse order: this one after the close of the region, and
      // before the memory is freed.
      MemorySegment memory = arena.allocate(LENGTH);
      MemorySegment.ofAddress(memory.address())
          .reinterpret(arena, gone -> closedFirst.set(isClosed(regions.getFirst())));
      regions.add(register(MemoryRegionConfig.of(arena, memory)));
      Messages.cross(loopback, ordinary(), regions.getFirst());
    }
    assertThat(closedFirst.get()).isTrue();
  }

  private static boolean isClosed(MemoryRegion region) {
    try {
      region.localKey();
      return false;
    } catch (IllegalStateException closed) {
      return true;
    }
  }

  @Test
  void closingAnArenaDuringAnOutstandingReceiveIsSafe() {
    Arena arena = Arena.ofShared();
    MemoryRegion region = register(MemoryRegionConfig.of(arena, arena.allocate(LENGTH)));
    MemorySegment view = region.segment();
    loopback.b.receives.add(1).into(region, 0, LENGTH);
    loopback.b.receives.post();
    arena.close();
    loopback.a.sends.add(2).from(ordinary(), 0, LENGTH).signaled();
    loopback.a.sends.post();
    assertThat(loopback.b.await(1).getFirst().status()).isNotEqualTo(CompletionStatus.SUCCESS);
    assertThatThrownBy(() -> view.get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(region::segment).isInstanceOf(IllegalStateException.class);
    region.close();
  }

  @Test
  void aRegionMayCloseBeforeItsArena() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(LENGTH);
      register(MemoryRegionConfig.of(arena, memory)).close();
      memory.fill((byte) 1);
      Messages.cross(loopback, ordinary(), register(MemoryRegionConfig.of(arena, memory)));
    }
  }

  @Test
  void memoryOfAClosedArenaIsRefused() {
    Arena arena = Arena.ofShared();
    MemoryRegionConfig config = MemoryRegionConfig.of(arena, arena.allocate(LENGTH));
    arena.close();
    assertThatThrownBy(() -> register(config)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void onlyTheThreadOfAConfinedArenaCanRegisterItsMemory() {
    try (Arena arena = Arena.ofConfined()) {
      MemoryRegionConfig config = MemoryRegionConfig.of(arena, arena.allocate(LENGTH));
      FutureTask<MemoryRegion> elsewhere = new FutureTask<>(() -> register(config));
      Thread.ofPlatform().start(elsewhere);
      assertThatThrownBy(() -> elsewhere.get(30, TimeUnit.SECONDS))
          .hasCauseInstanceOf(WrongThreadException.class);
    }
  }

  @Test
  void registeredMemoryStaysReachable() {
    WeakReference<MemorySegment> registered = registerAndDrop(false);
    WeakReference<Object> unregistered = new WeakReference<>(new Object());
    collect(unregistered);
    assertThat(unregistered.get()).as("an unreachable object").isNull();
    assertThat(registered.get()).isNotNull();
  }

  @Test
  void deregisteredMemoryBecomesUnreachable() {
    WeakReference<MemorySegment> memory = registerAndDrop(true);
    collect(memory);
    assertThat(memory.get()).isNull();
  }

  /** Runs the garbage collector until it has collected this. */
  private static void collect(WeakReference<?> garbage) {
    long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
    while (garbage.get() != null && System.nanoTime() - deadline < 0) {
      System.gc();
    }
  }

  private WeakReference<MemorySegment> registerAndDrop(boolean closed) {
    MemorySegment memory = Arena.ofAuto().allocate(LENGTH);
    MemoryRegion region = register(MemoryRegionConfig.of(memory));
    assertThat(region.localKey()).isNotZero();
    if (closed) {
      region.close();
    }
    return new WeakReference<>(memory);
  }

  /** In one packet, and at a page: soft-RoCE of Linux 7.3 puts the rest in the wrong place. */
  private static final int ON_DEMAND_LENGTH = 256;

  @Test
  void aRegionOnDemandCarriesMessagesOrIsRefused() {
    if (loopback.device.supports(DeviceOperation.PAGE_ON_DEMAND)) {
      MemoryRegion usual = domain.register(ON_DEMAND_LENGTH, AccessFlag.LOCAL_WRITE);
      Messages.cross(loopback, usual, onDemand());
      Messages.cross(loopback, onDemand(), usual);
    } else {
      assertThatThrownBy(this::onDemand)
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ON_DEMAND");
    }
  }

  private MemoryRegion onDemand() {
    return domain.register(ON_DEMAND_LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND);
  }

  @Test
  void adviceIsTakenForARegionOnDemandOrRefused() {
    boolean supported = loopback.device.supports(DeviceOperation.PAGE_ON_DEMAND);
    MemorySlice part = (supported ? onDemand() : ordinary()).slice(0, 64);
    for (MemoryAdvice advice : MemoryAdvice.values()) {
      if (supported) {
        domain.advise(advice, true, part);
      } else {
        unsupported("ibv_advise_mr(" + advice, () -> domain.advise(advice, true, part));
      }
    }
  }

  @Test
  void memoryOnDemandMustBeginAtAPage() {
    MemorySegment inPage = PageMemory.allocate(LENGTH).segment().asSlice(64);
    MemoryRegionConfig config =
        MemoryRegionConfig.of(inPage).access(AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND);
    assertThatThrownBy(() -> domain.register(config))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ON_DEMAND for memory at 0x%x".formatted(inPage.address()));
  }

  @Tag("needs-refusals-of-software")
  @Test
  void anUnsupportedReregistrationLeavesTheRegionUnchanged() {
    MemoryRegion region = ordinary();
    try (ProtectionDomain other = loopback.device.allocateProtectionDomain();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(LENGTH);
      for (MemoryRegionChange change :
          new MemoryRegionChange[] {
            MemoryRegionChange.none().access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ),
            MemoryRegionChange.none().domain(other),
            MemoryRegionChange.none().allocate(64),
            MemoryRegionChange.none().memory(arena, memory),
            MemoryRegionChange.none().memory(Arena.ofAuto().allocate(64)).domain(other)
          }) {
        assertThatThrownBy(() -> region.reregister(change))
            .isInstanceOfSatisfying(
                RdmaException.class, thrown -> assertThat(thrown.errno()).isEqualTo(EOPNOTSUPP))
            .hasMessageContaining("ibv_rereg_mr");
      }
    }
    Messages.cross(loopback, ordinary(), region);
  }

  @Test
  void anEmptyOrInvalidReregistrationIsRefused() {
    MemoryRegion region = ordinary();
    assertThatThrownBy(() -> region.reregister(MemoryRegionChange.none()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the change is empty");
    assertThatThrownBy(
            () -> region.reregister(MemoryRegionChange.none().access(AccessFlag.REMOTE_WRITE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("LOCAL_WRITE");
    try (RdmaDevice again = Loopback.openDevice()) {
      ProtectionDomain foreign = again.allocateProtectionDomain();
      assertThatThrownBy(() -> region.reregister(MemoryRegionChange.none().domain(foreign)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("new domain");
    }
    assertThatThrownBy(() -> region.reregister(MemoryRegionChange.none().allocate(0)))
        .isInstanceOf(IllegalArgumentException.class);
    Messages.cross(loopback, ordinary(), region);
  }

  @Tag("needs-refusals-of-software")
  @Test
  void operationsThatSoftwareDevicesLackAreRefusedAsUnsupported() {
    MemoryRegion region = ordinary();
    unsupported("ibv_alloc_null_mr", () -> domain.register(MemoryRegionConfig.nullRegion()));
    unsupported("ibv_reg_mr(all memory, ON_DEMAND)", domain::registerImplicit);
    unsupported("ibv_alloc_dm", () -> loopback.device.allocateDeviceMemory(64, 3));
    unsupported("ibv_import_dm", () -> loopback.device.importDeviceMemory(1, 64));
    unsupported(
        "ibv_reg_dmabuf_mr", () -> domain.register(MemoryRegionConfig.ofDmaBuffer(0, 0, 4096)));
    unsupported("ibv_import_mr", () -> domain.importRegion(region.kernelHandle(), 0));
    unsupported(
        "ibv_import_pd", () -> loopback.device.importProtectionDomain(domain.kernelHandle()));
  }

  private void unsupported(String call, Runnable use) {
    Refusals.unsupported(call, loopback.device, use);
  }

  @Test
  void invalidArgumentsAreRefusedBeforeTheCall() {
    assertThatThrownBy(() -> MemoryRegionConfig.ofDmaBuffer(-1, 0, 4096))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fileDescriptor is -1");
    assertThatThrownBy(() -> MemoryRegionConfig.ofDmaBuffer(0, -1, 4096))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("offset is -1");
    assertThatThrownBy(
            () -> domain.register(MemoryRegionConfig.ofDmaBuffer(0, 1, 4096).remoteAddress(2)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("remoteAddress is 0x2")
        .hasMessageContaining("as the offset is");
    assertThatThrownBy(() -> domain.register(MemoryRegionConfig.nullRegion().remoteAddress(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("remoteAddress is 0x1, must not be set for a null region");
    assertThatThrownBy(
            () -> domain.register(MemoryRegionConfig.nullRegion().access(AccessFlag.REMOTE_READ)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be at most LOCAL_WRITE for a null region");
    assertThatThrownBy(() -> loopback.device.allocateDeviceMemory(0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bytes is 0");
    assertThatThrownBy(() -> loopback.device.allocateDeviceMemory(1, 32))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("alignment is 32");
    assertThatThrownBy(() -> domain.advise(MemoryAdvice.PREFETCH, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("number of parts is 0");
    try (ProtectionDomain other = loopback.device.allocateProtectionDomain()) {
      MemorySlice foreign = other.register(64).slice(0, 64);
      assertThatThrownBy(() -> domain.advise(MemoryAdvice.PREFETCH, false, foreign))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another domain");
    }
  }
}
