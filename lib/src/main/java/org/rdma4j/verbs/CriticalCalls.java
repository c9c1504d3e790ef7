package org.rdma4j.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether posts and polls of a device call C critically: the thread keeps its state, which saves
 * about 20 ns, and a garbage collector waits until the call returns. This is right for a provider
 * whose posts and polls access only memory and the registers of the device, as the providers of
 * adapters do. It is wrong for a provider that enters the kernel, as those of software devices do.
 */
final class CriticalCalls {
  /** The system property that overrides the choice, with the value plain or critical. */
  private static final String PROPERTY = "org.rdma4j.calls";

  /** Drivers of adapters whose provider enters the kernel to post. */
  private static final Set<String> DRIVERS_THAT_POST_THROUGH_THE_KERNEL = Set.of("hfi1", "ib_qib");

  private CriticalCalls() {}

  /**
   * Returns the choice for a device that is being opened.
   *
   * @throws IllegalArgumentException if the system property has another value
   */
  static boolean chosenFor(DeviceInfo info) {
    return chosenFor(Path.of(info.systemPath()), System.getProperty(PROPERTY));
  }

  static boolean chosenFor(Path device, @Nullable String property) {
    if (property != null) {
      return switch (property) {
        case "critical" -> true;
        case "plain" -> false;
        default ->
            throw new IllegalArgumentException(
                "the system property %s is '%s', must be plain or critical"
                    .formatted(PROPERTY, property));
      };
    }
    try {
      Path driver = Files.readSymbolicLink(device.resolve("device").resolve("driver"));
      return !DRIVERS_THAT_POST_THROUGH_THE_KERNEL.contains(String.valueOf(driver.getFileName()));
    } catch (IOException softwareDevice) {
      // It has no driver. Plain calls are right for every device.
      return false;
    }
  }
}
