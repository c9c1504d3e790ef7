package org.rdma4j.verbs;

import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.NativeLibraries;

/**
 * Fork support of libibverbs, which can only be initialized before the process opens its first
 * device.
 */
final class ForkSupport {
  /** Guards what libibverbs does not: an open while fork support is being initialized. */
  private static final Object LOCK = new Object();

  private static boolean devicesWereOpened;

  private ForkSupport() {}

  /** Called before a device is opened: from now on it is too late to initialize. */
  static void forbidInitialization() {
    synchronized (LOCK) {
      devicesWereOpened = true;
    }
  }

  static ForkStatus initialize() {
    synchronized (LOCK) {
      ForkStatus status = status();
      if (status != ForkStatus.DISABLED) {
        return status;
      }
      if (devicesWereOpened) {
        throw new IllegalStateException(
            "fork support must be initialized before the first device is opened");
      }
      NativeFailures.check(null, "ibv_fork_init", rdma_h.ibv_fork_init());
      return status();
    }
  }

  static ForkStatus status() {
    NativeLibraries.require();
    return NativeConstants.of(
        ForkStatus.class, rdma_h.ibv_is_fork_initialized(), ForkStatus.DISABLED);
  }
}
