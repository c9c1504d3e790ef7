package org.rdma4j.verbs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How posts and polls call C. {@link RdmaDevice#open(String)} chooses the style that suits the
 * device, {@link RdmaDevice#open(String, CallStyle)} lets the caller choose. The system property
 * {@code org.rdma4j.calls}, with the value {@code plain} or {@code critical}, overrides both.
 *
 * @see RdmaDevice#open(String, CallStyle)
 * @see RdmaDevice#callStyle()
 */
public enum CallStyle {
  /**
   * The JVM changes the state of the thread around the call, which costs about 20 ns. This is right
   * for a provider that enters the kernel to post, as the providers of software devices do.
   */
  PLAIN,
  /**
   * The JVM does not change the state of the thread, so a garbage collector waits until the call
   * returns. This is right for a provider whose posts and polls access only memory and the
   * registers of the device, as the providers of adapters do.
   */
  CRITICAL;

  /** Drivers of adapters whose provider enters the kernel to post. */
  private static final Set<String> DRIVERS_THAT_POST_THROUGH_THE_KERNEL = Set.of("hfi1", "ib_qib");

  /**
   * Returns the style for a device: the one of the system property, else the caller's choice, else
   * the one that suits the device's driver.
   *
   * @throws IllegalArgumentException if the system property has another value
   */
  static CallStyle resolve(@Nullable CallStyle callStyle, DeviceInfo info) {
    String property = System.getProperty("org.rdma4j.calls");
    if (property != null) {
      return valueOf(property.toUpperCase(Locale.ROOT));
    }
    if (callStyle != null) {
      return callStyle;
    }
    Path driver = Path.of(info.systemPath(), "device", "driver");
    boolean adapter =
        Files.exists(driver)
            && !DRIVERS_THAT_POST_THROUGH_THE_KERNEL.contains(
                driver.toAbsolutePath().normalize().getFileName().toString());
    return adapter ? CRITICAL : PLAIN;
  }

  boolean isCritical() {
    return this == CRITICAL;
  }
}
