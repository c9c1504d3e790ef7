package org.rdma4j;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the device does not support a call (EOPNOTSUPP, ENOSYS, or EPROTONOSUPPORT): its
 * provider, its driver, this kernel or the installed version of rdma-core does not implement the
 * call, or not with these arguments. Repeating the call does not help; another device or a newer
 * rdma-core may support it.
 *
 * @see org.rdma4j.verbs.RdmaDevice#supports
 */
public final class UnsupportedByDeviceException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The device's name, or null. */
  private final @Nullable String device;

  /**
   * Creates the exception for a call that the device does not support.
   *
   * @param call the C function and what distinguishes this call from others
   * @param errno EOPNOTSUPP, ENOSYS or EPROTONOSUPPORT
   * @param device the name of the device; null if the call was not made on a device
   */
  public UnsupportedByDeviceException(String call, int errno, @Nullable String device) {
    this(
        call,
        errno,
        device,
        "The provider of "
            + (device == null ? "this device" : "device " + device)
            + ", or its kernel driver, does not support the call");
  }

  /**
   * Creates the exception for a call that is not supported, with the caller's own advice.
   *
   * @param call the C function and what distinguishes this call from others
   * @param errno EOPNOTSUPP, ENOSYS or EPROTONOSUPPORT
   * @param device the name of the device; null if the call was not made on a device
   * @param advice what to do, in one or more sentences without a final period
   */
  public UnsupportedByDeviceException(
      String call, int errno, @Nullable String device, String advice) {
    super(call, errno, advice);
    this.device = device;
  }

  /**
   * Returns the device that does not support the call.
   *
   * @return the name of the device; empty if the call was not made on a device
   */
  public Optional<String> device() {
    return Optional.ofNullable(device);
  }
}
