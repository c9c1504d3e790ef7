package org.rdma4j.verbs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How posts and polls are called. {@link RdmaDevice#open(String)} chooses by the device; this is
 * for those who know better. The system property {@code org.rdma4j.calls}, {@code plain} or {@code
 * critical}, overrides both.
 */
public enum CallStyle {
  /**
   * With the change of the thread's state that the JVM makes around native code: some 20 ns more,
   * and right for a provider that enters the kernel to post, as those of software devices do.
   */
  PLAIN,
  /**
   * Without it: a garbage collector waits until the call returns. Right for a provider whose posts
   * and polls touch only memory and the device's registers, as those of adapters do.
   */
  CRITICAL;

  /** Drivers of adapters whose user-space provider enters the kernel to post all the same. */
  private static final Set<String> DRIVERS_THAT_POST_THROUGH_THE_KERNEL = Set.of("hfi1", "ib_qib");

  /**
   * Returns the style for a device: that of the system property, else the one that the caller
   * chose, else the one that suits the device's driver.
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
