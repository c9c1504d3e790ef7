package org.rdma4j.cm;

import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.Descriptors;

/** Turns the failures of librdmacm's functions into exceptions. */
final class CmFailures {
  private CmFailures() {}

  /** Throws if the function, which returns 0 or -1 and sets errno, has failed. */
  static void check(String call, int result) {
    if (result != 0) {
      throw of(call, Errno.errno());
    }
  }

  /** Returns the exception for an errno value. */
  static RdmaException of(String call, int errno) {
    if (errno == ErrorNumber.ENODEV.value()) {
      // librdmacm finds no device either if it cannot open the files of the devices.
      Descriptors.require(call);
    }
    if (errno == ErrorNumber.ECONNREFUSED.value() && call.startsWith("rdma_connect")) {
      return new ConnectionRejectedException(call);
    }
    return errno == ErrorNumber.EOPNOTSUPP.value() || errno == ErrorNumber.ENOSYS.value()
        ? new UnsupportedByDeviceException(call, errno, null)
        : new RdmaException(call, errno);
  }
}
