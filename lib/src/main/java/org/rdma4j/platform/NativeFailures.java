package org.rdma4j.platform;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.Library;
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

  /**
   * Checks that the installed libraries have a function that older versions lack.
   *
   * @param version the first version of rdma-core that has it
   */
  public static void requireFunction(@Nullable String device, String function, int version) {
    if (!Library.contains(function)) {
      throw new UnsupportedByDeviceException(
          function,
          ErrorNumber.ENOSYS.value(),
          device,
          "The installed rdma-core does not have this function: install version "
              + version
              + " or newer");
    }
  }

  /** Returns the exception for an errno value, or its negative, which some providers return. */
  public static RdmaException failure(@Nullable String device, String call, int returned) {
    int errno = Math.abs(returned);
    return isUnsupported(errno)
        ? new UnsupportedByDeviceException(call, errno, device)
        : new RdmaException(call, errno);
  }

  /**
   * Whether an errno value says that the call is not supported. EPROTONOSUPPORT comes from a kernel
   * that does not know the command: its provider in user space is newer.
   */
  public static boolean isUnsupported(int errno) {
    return errno == ErrorNumber.EOPNOTSUPP.value()
        || errno == ErrorNumber.ENOSYS.value()
        || errno == ErrorNumber.EPROTONOSUPPORT.value();
  }
}
