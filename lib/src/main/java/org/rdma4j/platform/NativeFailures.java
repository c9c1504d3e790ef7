package org.rdma4j.platform;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.inlines.Errno;

/**
 * Turns the failures that verbs functions report into exceptions. The device is the name for the
 * message if the device does not support the call; null if there is none.
 */
public final class NativeFailures {
  private NativeFailures() {}

  /** For functions that return a new object, or NULL and errno. */
  public static MemorySegment created(@Nullable String device, String call, MemorySegment object) {
    if (object.address() == 0) {
      throw failure(device, call, Errno.errno());
    }
    return object;
  }

  /** For functions that return 0 or the errno value. */
  public static void check(@Nullable String device, String call, int errno) {
    if (errno != 0) {
      throw failure(device, call, errno);
    }
  }

  /** Returns the exception for that errno value. */
  public static RdmaException failure(@Nullable String device, String call, int errno) {
    return errno == ErrorNumber.EOPNOTSUPP.value() || errno == ErrorNumber.ENOSYS.value()
        ? new UnsupportedByDeviceException(call, errno, device)
        : new RdmaException(call, errno);
  }
}
