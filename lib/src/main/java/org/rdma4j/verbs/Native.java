package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.ErrorNumber;

/** Turns what verbs functions return on failure into exceptions. */
final class Native {
  private Native() {}

  /**
   * For functions that return a new object, or NULL and errno; with the device to name where it
   * does not support the call.
   */
  static MemorySegment created(@Nullable DeviceInfo device, String call, MemorySegment object) {
    if (object.address() == 0) {
      throw failure(device, call, Errno.errno());
    }
    return object;
  }

  /** For functions that return 0 or the errno value. */
  static void check(@Nullable DeviceInfo device, String call, int errno) {
    if (errno != 0) {
      throw failure(device, call, errno);
    }
  }

  /** The exception for that errno value. */
  static RdmaException failure(@Nullable DeviceInfo device, String call, int errno) {
    return errno == ErrorNumber.EOPNOTSUPP.value() || errno == ErrorNumber.ENOSYS.value()
        ? new UnsupportedByDeviceException(call, errno, device == null ? null : device.name())
        : new RdmaException(call, errno);
  }
}
