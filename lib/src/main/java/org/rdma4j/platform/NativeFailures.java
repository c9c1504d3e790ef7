package org.rdma4j.platform;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.inlines.Errno;

/**
 * Turns failures that verbs functions report into exceptions. {@code device} is the name of the
 * device, for the message if it does not support the call; null if there is no device.
 */
public final class NativeFailures {
  private NativeFailures() {}

  /** Checks the result of a function that returns a new object, or NULL and sets errno. */
  public static MemorySegment created(@Nullable String device, String call, MemorySegment object) {
    if (object.address() == 0) {
      throw failure(device, call, Errno.errno());
    }
    return object;
  }

  /** Checks the result of a function that returns 0 or an errno value. */
  public static void check(@Nullable String device, String call, int errno) {
    if (errno != 0) {
      throw failure(device, call, errno);
    }
  }

  /** Returns the exception for an errno value. */
  public static RdmaException failure(@Nullable String device, String call, int errno) {
    return errno == ErrorNumber.EOPNOTSUPP.value() || errno == ErrorNumber.ENOSYS.value()
        ? new UnsupportedByDeviceException(call, errno, device)
        : new RdmaException(call, errno);
  }
}
