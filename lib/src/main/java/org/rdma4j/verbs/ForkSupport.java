package org.rdma4j.verbs;

import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.NativeLibraries;

/**
 * The fork support of libibverbs. It can be initialized only before the process opens its first
 * device.
 */
final class ForkSupport {
  /** Keeps a thread from opening a device during the initialization: libibverbs does not. */
  private static final Object LOCK = new Object();

  private static boolean devicesWereOpened;

  private ForkSupport() {}

  /** Forbids the initialization from now on. Called before a device is opened. */
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
            "fork support must be initialized before the first device is opened, call"
                + " initializeFork first");
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
