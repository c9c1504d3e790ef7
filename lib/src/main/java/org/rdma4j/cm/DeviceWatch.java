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
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_device;

/**
 * Notices that a device is being removed which librdmacm has open, by its directory in sysfs: the
 * kernel deletes that first, and then waits until every process has closed a device whose driver
 * cannot take it away. Only identifiers get an event, and a process may have the device open
 * without an identifier: librdmacm opens all devices when it lists them, and keeps them open.
 *
 * <p>A daemon thread looks once a second.
 */
final class DeviceWatch {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** What to do when a device is being removed. */
  interface Removal {
    void removed();
  }

  /** The identities of the directories: a new device may get the name of one that is removed. */
  private final Map<Path, Object> known = new ConcurrentHashMap<>();

  private final Removal removal;
  private boolean started;

  DeviceWatch(Removal removal) {
    this.removal = removal;
  }

  /** Watches the device of a context, which is open. */
  synchronized void watch(MemorySegment context) {
    Path directory = directory(context);
    Object identity = identity(directory);
    if (identity == null || known.putIfAbsent(directory, identity) != null || started) {
      return;
    }
    started = true;
    Thread.ofPlatform().daemon().name("rdma4j-devices").start(this::run);
  }

  /** Returns whether the device of a context, which is open, is being removed. */
  boolean isRemoved(MemorySegment context) {
    Path directory = directory(context);
    Object identity = known.get(directory);
    return identity != null && !identity.equals(identity(directory));
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
    if (known.entrySet().stream()
        .allMatch(entry -> entry.getValue().equals(identity(entry.getKey())))) {
      return;
    }
    try {
      removal.removed();
      known.entrySet().removeIf(entry -> !entry.getValue().equals(identity(entry.getKey())));
    } catch (RuntimeException failed) {
      System.getLogger("org.rdma4j")
          .log(System.Logger.Level.WARNING, "a device that was removed cannot be closed", failed);
    }
  }

  private static Path directory(MemorySegment context) {
    return Path.of(ibv_device.dev_path(ibv_context.device(context)).getString(0));
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
