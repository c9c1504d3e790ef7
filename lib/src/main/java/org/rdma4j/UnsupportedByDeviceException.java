package org.rdma4j;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The device cannot do what was asked of it: its provider, its driver or this kernel does not have
 * the call, or not in that form (EOPNOTSUPP, ENOSYS). Asking again does not help; another device
 * may do it.
 */
public final class UnsupportedByDeviceException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The device's name, or null. */
  private final @Nullable String device;

  /**
   * A call that the device does not support.
   *
   * @param call the C function, with what tells this call from others
   * @param errno EOPNOTSUPP or ENOSYS
   * @param device the device's name; null where the call was not made on one
   */
  public UnsupportedByDeviceException(String call, int errno, @Nullable String device) {
    super(
        call,
        errno,
        (device == null ? "This device's provider" : "The provider of device " + device)
            + ", or this kernel's driver of it, does not support the call");
    this.device = device;
  }

  /**
   * The device that does not support the call.
   *
   * @return its name, as in the list of devices; empty where the failed call does not know it
   */
  public Optional<String> device() {
    return Optional.ofNullable(device);
  }
}
