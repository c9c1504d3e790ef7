package org.rdma4j.cm;

import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.inlines.Errno;

/** Turns what librdmacm's functions return on failure into exceptions. */
final class Cm {
  private Cm() {}

  /** For functions that return 0, or -1 and errno. */
  static void check(String call, int result) {
    if (result != 0) {
      throw failure(call, Errno.errno());
    }
  }

  /** The exception for that errno value. */
  static RdmaException failure(String call, int errno) {
    return errno == ErrorNumber.EOPNOTSUPP.value() || errno == ErrorNumber.ENOSYS.value()
        ? new UnsupportedByDeviceException(call, errno, null)
        : new RdmaException(call, errno);
  }
}
