package org.rdma4j.cm;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_device;
import org.rdma4j.platform.DaemonThreads;

/**
 * Notices that a device is being removed which librdmacm has open, by its directory in sysfs: the
 * kernel deletes that first, and then waits until every process has closed a device whose driver
 * cannot take it away. Only identifiers get an event, and a process may have the device open
 * without an identifier: librdmacm opens all devices when it lists them, and that of an identifier,
 * and keeps them open.
 *
 * <p>A daemon thread looks once a second.
 */
final class DeviceWatch {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** What to do when a device is being removed. */
  interface Removal {
    void removed();
  }

  /**
   * A directory in sysfs at the time when watching began. A new device may get the name of a device
   * that was removed, so the identity is kept; it is null if the directory was already gone.
   */
  private record Watched(Path directory, @Nullable Object identity) {
    static Watched of(MemorySegment context) {
      Path directory = Path.of(ibv_device.dev_path(ibv_context.device(context)).getString(0));
      return new Watched(directory, DeviceWatch.identity(directory));
    }

    boolean isRemoved() {
      return identity == null || !identity.equals(DeviceWatch.identity(directory));
    }
  }

  /** The directories by the addresses of the contexts. */
  private final Map<Long, Watched> known = new ConcurrentHashMap<>();

  private final Removal removal;
  private final AtomicBoolean started = new AtomicBoolean();

  DeviceWatch(Removal removal) {
    this.removal = removal;
  }

  /**
   * Watches the device of a context that librdmacm has open. The entry of an earlier context at
   * this address is replaced: the directory of a device gets no other device while the device is
   * open, so this context belongs to the directory that is there now, or to none.
   */
  void watch(MemorySegment context) {
    known.put(context.address(), Watched.of(context));
    if (!started.getAndSet(true)) {
      DaemonThreads.named("rdma4j-devices").start(this::run);
    }
  }

  /** Returns whether the device of a context, which is open, is being removed. */
  boolean isRemoved(MemorySegment context) {
    Watched watched = known.get(context.address());
    return watched != null && watched.isRemoved();
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(PERIOD);
        look();
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    if (known.values().stream().noneMatch(Watched::isRemoved)) {
      return;
    }
    try {
      removal.removed();
      known.values().removeIf(Watched::isRemoved);
    } catch (RuntimeException failed) {
      System.getLogger("org.rdma4j")
          .log(System.Logger.Level.WARNING, "a device that was removed cannot be closed", failed);
    }
  }

  /**
   * Returns what distinguishes a directory from a later one of the same name; null if it is gone.
   */
  private static @Nullable Object identity(Path directory) {
    try {
      return Objects.requireNonNullElse(
          Files.readAttributes(directory, BasicFileAttributes.class).fileKey(), directory);
    } catch (IOException gone) {
      return null;
    }
  }
}
