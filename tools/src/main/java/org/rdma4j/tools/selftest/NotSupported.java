package org.rdma4j.tools.selftest;

/** Thrown by a check if the device does not have what is tested. The message has the reason. */
final class NotSupported extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NotSupported(String reason) {
    super(reason);
  }
}
