package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.Libc;

/** What an adapter does that software devices refuse. */
@Tag("mlx5")
final class AdapterTest {
  private static final int LENGTH = 4096;

  private Loopback loopback;
  private RdmaDevice device;
  private ProtectionDomain domain;

  @BeforeEach
  void create() {
    loopback =
        Loopback.connected(
            config -> config, path -> path.access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
    device = loopback.device;
    domain = loopback.domain;
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private MemoryRegion region() {
    return domain.register(LENGTH, AccessFlag.LOCAL_WRITE);
  }

  @Test
  void aMessageArrivesInAnImportedRegionOfAnImportedDevice() {
    try (RdmaDevice again = RdmaDevice.importDevice(device.commandFileDescriptor());
        ProtectionDomain same = again.importProtectionDomain(domain.kernelHandle())) {
      assertThat(again.info()).isEqualTo(device.info());
      MemoryRegion original = region();
      MemoryRegion imported = same.importRegion(original.kernelHandle(), original.remoteAddress());
      assertThat(imported.localKey()).isEqualTo(original.localKey());
      assertThat(imported.byteSize()).isEqualTo(original.byteSize());
      Messages.cross(loopback, region(), original);
    }
  }

  /**
   * libmlx5 closes the descriptor of an import that it refuses. The simulated device has the number
   * of /dev/null, so libmlx5 is asked, and its first command fails.
   */
  @Test
  void anImportThatTheProviderRefusesSaysWhyAndLeavesNoDescriptor() throws IOException {
    int unused = Libc.open(Path.of("/dev/null"));
    try {
      long before = openDescriptors();
      assertThatThrownBy(() -> RdmaDevice.importDevice(unused))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ibv_import_device(descriptor " + unused + ") failed: errno 25");
      assertThat(openDescriptors()).isEqualTo(before);
    } finally {
      Libc.close(unused);
    }
  }

  private static long openDescriptors() throws IOException {
    try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.count();
    }
  }

  @Test
  void aCallThatFailsWithoutAnErrnoSaysSo() {
    try (CompletionQueue queue = device.createCompletionQueue(64)) {
      assertThatThrownBy(
              () -> domain.createQueuePair(QueuePairConfig.datagram(queue).segmentHeaderBytes(64)))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("The function set no errno");
    }
  }

  @Test
  void threadDomainsAndParentDomainsHoldQueuePairsThatWork() {
    try (ThreadDomain threads = device.allocateThreadDomain();
        ProtectionDomain parent = domain.allocateParentDomain(threads);
        CompletionQueue queue = device.createCompletionQueue(64)) {
      QueuePair queuePair = parent.createQueuePair(QueuePairConfig.reliable(queue));
      queuePair.connect(loopback.path(queuePair.address(1, Loopback.gidIndex(device))));
      queuePair.receiveRequests(1).add(1).into(loopback.b.region, 0, 8).post();
      queuePair.sendRequests(1).add(2).from(loopback.a.region, 0, 8).signaled().post();
      assertThat(Loopback.await(queue, 2))
          .extracting(Loopback.Done::status)
          .containsOnly(CompletionStatus.SUCCESS);
    }
  }

  @Test
  void deviceMemoryIsWrittenByThePeerAndReadByTheProgram() {
    byte[] sent = Messages.random(64);
    MemoryRegion source = region();
    source.segment().asSlice(0, 64).copyFrom(MemorySegment.ofArray(sent));
    try (DeviceMemory memory = device.allocateDeviceMemory(LENGTH, 0);
        MemoryRegion target =
            domain.register(
                MemoryRegionConfig.of(memory, 0, LENGTH).access(AccessFlag.LOCAL_WRITE))) {
      loopback.b.receives.add(1).into(target.slice(128, 64)).post();
      loopback.a.sends.add(2).from(source.slice(0, 64)).signaled().post();
      loopback.a.await(1);
      loopback.b.await(1);
      MemorySegment read = Arena.ofAuto().allocate(64);
      memory.read(128, read);
      assertThat(read.toArray(JAVA_BYTE)).isEqualTo(sent);
    }
  }

  @Test
  void importedDeviceMemoryIsTheSame() {
    byte[] written = Messages.random(64);
    try (DeviceMemory memory = device.allocateDeviceMemory(LENGTH, 0);
        RdmaDevice again = RdmaDevice.importDevice(device.commandFileDescriptor());
        DeviceMemory same = again.importDeviceMemory(memory.kernelHandle(), LENGTH)) {
      memory.write(64, Arena.ofAuto().allocate(64).copyFrom(MemorySegment.ofArray(written)));
      MemorySegment read = Arena.ofAuto().allocate(64);
      same.read(64, read);
      assertThat(read.toArray(JAVA_BYTE)).isEqualTo(written);
    }
  }

  @Test
  void memoryIsPagedOnDemand() {
    MemoryRegion target = domain.register(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND);
    domain.advise(MemoryAdvice.PREFETCH, false, target.slice(0, LENGTH));
    byte[] sent = Messages.random(64);
    MemorySegment anywhere = Arena.ofAuto().allocate(64).copyFrom(MemorySegment.ofArray(sent));
    try (ImplicitRegion all = domain.registerImplicit()) {
      loopback.b.receives.add(1).into(target.slice(0, 64)).post();
      loopback.a.sends.add(2).from(all, anywhere).signaled().post();
      assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(target.segment().asSlice(0, 64).toArray(JAVA_BYTE)).isEqualTo(sent);
    }
  }

  @Test
  void aNullRegionReadsAsZerosAndForgetsWhatIsWritten() {
    MemoryRegion target = region();
    target.segment().fill((byte) 7);
    try (MemoryRegion nothing = domain.register(MemoryRegionConfig.nullRegion())) {
      loopback.b.receives.add(1).into(target.slice(0, 64)).post();
      loopback.a.sends.add(2).from(nothing, 0, 64).signaled().post();
      loopback.a.await(1);
      assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(target.segment().asSlice(0, 64).toArray(JAVA_BYTE)).containsOnly(0);
    }
  }

  @Test
  void aReregisteredRegionHasTheNewMemoryAndAccess() {
    try (Arena arena = Arena.ofShared()) {
      MemoryRegion target = region();
      MemorySegment memory = arena.allocate(LENGTH, LENGTH);
      MemoryRegion changed =
          target.reregister(
              MemoryRegionChange.none()
                  .memory(arena, memory)
                  .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
      byte[] sent = Messages.random(LENGTH);
      MemoryRegion source = region();
      source.segment().copyFrom(MemorySegment.ofArray(sent));
      Messages.send(loopback, source.slice(0, LENGTH), changed.slice(0, LENGTH));
      assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(sent);
      changed.close();
    }
  }

  @Test
  void theRateOfAQueuePairIsLimited() {
    RateLimit limit = new RateLimit(1000, 0, 0);
    loopback.a.queuePair.limitRate(limit);
    Messages.cross(loopback, region(), region());
  }

  @Test
  void theEnhancementsOfAConnectionAreQueriedAndSet() {
    try (Loopback other = Loopback.unconnected()) {
      Ece ece = other.a.queuePair.ece();
      assertThat(ece.vendorId()).isEqualTo(0x15b3);
      other.b.queuePair.setEce(ece);
    }
  }

  @Test
  void eventsOfACompletionQueueAreModerated() {
    loopback.b.queue.moderate(4, 100);
    Messages.cross(loopback, region(), region());
  }

  @Test
  void aWindowOfType1GivesAPeerAccess() {
    MemoryRegion target =
        domain.register(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND);
    try (MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
      window.bind(loopback.b.queuePair, 1, target.slice(0, 64), true, AccessFlag.REMOTE_WRITE);
      assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
      byte[] sent = Messages.random(64);
      MemoryRegion source = region();
      source.segment().asSlice(0, 64).copyFrom(MemorySegment.ofArray(sent));
      assertThat(
              Messages.rdmaWrite(
                  loopback, source.slice(0, 64), target.remoteAddress(), window.remoteKey()))
          .isEqualTo(CompletionStatus.SUCCESS);
      assertThat(Arrays.copyOf(target.segment().toArray(JAVA_BYTE), 64)).isEqualTo(sent);
    }
  }

  @Test
  void theClockGoesOnAndStampsCompletions() {
    long before = device.rawClock();
    try (CompletionQueue queue =
        device.createCompletionQueue(
            CompletionQueueConfig.of(16).extended(CompletionField.TIMESTAMP))) {
      QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
      queuePair.connect(loopback.path(queuePair.address(1, Loopback.gidIndex(device))));
      Completions completions = queue.completions(1);
      queuePair.receiveRequests(1).add(1).into(region(), 0, 8).post();
      queuePair.sendRequests(1).add(2).from(region(), 0, 8).post();
      await(completions);
      assertThat(completions.timestamp(0)).isGreaterThanOrEqualTo(before);
      long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
      // The page of the clock is as new as the last round of the adapter.
      long after = device.rawClock();
      while (after < completions.timestamp(0) && System.nanoTime() < deadline) {
        after = device.rawClock();
      }
      assertThat(after).isGreaterThanOrEqualTo(completions.timestamp(0));
    }
  }

  @Test
  void aCompletionHasTheTimeOfDay() {
    try (CompletionQueue queue =
        device.createCompletionQueue(
            CompletionQueueConfig.of(16).extended(CompletionField.WALL_CLOCK))) {
      QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
      queuePair.connect(loopback.path(queuePair.address(1, Loopback.gidIndex(device))));
      Completions completions = queue.completions(1);
      Instant before = Instant.now();
      queuePair.receiveRequests(1).add(1).into(region(), 0, 8).post();
      queuePair.sendRequests(1).add(2).from(region(), 0, 8).post();
      await(completions);
      assertThat(Instant.EPOCH.plusNanos(completions.wallClock(0)))
          .isBetween(before.minusMillis(1), Instant.now().plusMillis(1));
    }
  }

  @Test
  void anExtendedQueueTellsWhichKeyThePeerHasInvalidated() {
    try (CompletionQueue queue =
            device.createCompletionQueue(
                CompletionQueueConfig.of(16).extended(CompletionField.IMMEDIATE));
        MemoryRegion bound =
            domain.register(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
      QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
      queuePair.connect(loopback.path(queuePair.address(1, Loopback.gidIndex(device))));
      Completions completions = queue.completions(1);
      SendRequests sends = queuePair.sendRequests(1);
      sends.add(1).bind(window, bound.slice(0, 64), AccessFlag.REMOTE_READ).signaled().post();
      await(completions);
      int key = window.remoteKey();
      queuePair.receiveRequests(1).add(2).into(region(), 0, 64).post();
      sends.add(3).sendWithInvalidate(key).post();
      await(completions);
      assertThat(completions.hasInvalidatedKey(0)).isTrue();
      assertThat(completions.invalidatedKey(0)).isEqualTo(key);
    }
  }

  /** A file in memory stands for the memory of another device. */
  @Test
  void aMessageArrivesInADmaBuffer() throws IOException {
    int buffer = memoryFile();
    Path file = Path.of("/proc/self/fd/" + buffer);
    Files.write(file, new byte[2 * LENGTH]);
    MemoryRegionConfig part = MemoryRegionConfig.ofDmaBuffer(buffer, LENGTH, LENGTH);
    try (MemoryRegion target = domain.register(part.access(AccessFlag.LOCAL_WRITE))) {
      byte[] sent = Messages.random(64);
      MemoryRegion source = region();
      source.segment().asSlice(0, 64).copyFrom(MemorySegment.ofArray(sent));
      loopback.b.receives.add(1).into(target.slice(128, 64)).post();
      loopback.a.sends.add(2).from(source.slice(0, 64)).signaled().post();
      loopback.a.await(1);
      loopback.b.await(1);
      byte[] all = Files.readAllBytes(file);
      assertThat(Arrays.copyOfRange(all, LENGTH + 128, LENGTH + 192)).isEqualTo(sent);
    } finally {
      Libc.close(buffer);
    }
  }

  private static int memoryFile() {
    Linker linker = Linker.nativeLinker();
    MethodHandle create =
        linker.downcallHandle(
            linker.defaultLookup().find("memfd_create").orElseThrow(),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    try (Arena arena = Arena.ofConfined()) {
      return (int) create.invokeExact(arena.allocateFrom("dma buffer"), 0);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  @Test
  void anExtendedQueueTellsTheVendorsErrorAndTheAddressOfTheSender() {
    try (CompletionQueue queue =
        device.createCompletionQueue(
            CompletionQueueConfig.of(16)
                .extended(
                    CompletionField.SOURCE_LID,
                    CompletionField.SERVICE_LEVEL,
                    CompletionField.DESTINATION_LID_PATH_BITS))) {
      QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
      queuePair.connect(loopback.path(queuePair.address(1, Loopback.gidIndex(device))));
      Completions completions = queue.completions(1);
      queuePair.receiveRequests(1).add(1).into(region(), 0, 4).post();
      queuePair.sendRequests(1).add(2).from(region(), 0, 4).post();
      await(completions);
      assertThat(completions.sourceLid(0)).isZero();
      assertThat(completions.serviceLevel(0)).isZero();
      assertThat(completions.destinationLidPathBits(0)).isZero();
      queuePair.receiveRequests(1).add(1).into(region(), 0, 4).post();
      queuePair.toError();
      await(completions);
      assertThat(completions.status(0)).isEqualTo(CompletionStatus.FLUSHED);
      assertThat(completions.vendorError(0)).isEqualTo(0xf9);
    }
  }

  private static void await(Completions completions) {
    long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
    while (completions.poll() == 0) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }
}
