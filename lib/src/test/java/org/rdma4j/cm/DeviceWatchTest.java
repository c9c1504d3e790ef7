package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_device;

/**
 * Which devices count as removed, with directories of a file system instead of sysfs. {@code
 * DeviceRemovalTest} shows that sysfs has those of the kernel's devices.
 */
final class DeviceWatchTest {
  private final DeviceWatch watch = new DeviceWatch(() -> {});

  @TempDir
  @SuppressWarnings("NullAway.Init") // before each
  private Path directory;

  @Test
  void aDeviceIsRemovedWhenItsDirectoryIsGone() throws Exception {
    Path device = Files.createDirectory(directory.resolve("mlx5_0"));
    MemorySegment context = context(device);
    watch.watch(context);
    assertThat(watch.isRemoved(context)).isFalse();
    Files.delete(device);
    assertThat(watch.isRemoved(context)).isTrue();
  }

  @Test
  void aDeviceIsRemovedWhoseDirectoryWasGoneWhenItWasListed() {
    MemorySegment context = context(directory.resolve("mlx5_0"));
    watch.watch(context);
    assertThat(watch.isRemoved(context)).isTrue();
  }

  @Test
  void aDeviceThatGetsTheNameOfARemovedOneIsNotTakenForIt() throws Exception {
    Path device = Files.createDirectory(directory.resolve("mlx5_0"));
    MemorySegment former = context(device);
    watch.watch(former);
    replace(device);
    MemorySegment added = context(device);
    watch.watch(added);
    assertThat(watch.isRemoved(former)).isTrue();
    assertThat(watch.isRemoved(added)).isFalse();
  }

  @Test
  void aDeviceThatGetsNameAndAddressOfARemovedOneIsNotTakenForIt() throws Exception {
    Path device = Files.createDirectory(directory.resolve("mlx5_0"));
    MemorySegment context = context(device);
    watch.watch(context);
    replace(device);
    watch.watch(context);
    assertThat(watch.isRemoved(context)).isFalse();
  }

  /** The former directory is only moved, so that the new one does not get its inode. */
  private void replace(Path device) throws Exception {
    Files.move(device, directory.resolve("former"));
    Files.createDirectory(device);
  }

  private static MemorySegment context(Path directory) {
    Arena arena = Arena.ofAuto();
    MemorySegment device = ibv_device.allocate(arena);
    ibv_device.dev_path(device).setString(0, directory.toString());
    MemorySegment context = ibv_context.allocate(arena);
    ibv_context.device(context, device);
    return context;
  }
}
