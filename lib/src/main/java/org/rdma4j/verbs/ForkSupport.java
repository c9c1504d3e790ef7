package org.rdma4j.verbs;

import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.NativeLibraries;

/**
 * What libibverbs does for processes that call fork(). Java does not need it: {@link
 * ProcessBuilder} starts programs without touching registered memory. It is here for native
 * libraries in the process of a Java program that call fork() themselves, on kernels that do not
 * copy registered pages for children ({@link ForkStatus#UNNEEDED}).
 */
public final class ForkSupport {
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

  /**
   * Makes native code that calls fork() safe: {@code ibv_fork_init}. From then on children do not
   * get the registered memory; without that, writes of the parent after the fork would go to other
   * pages than those that the device uses. Does nothing if it is already initialized or not needed.
   *
   * @return the status from now on, never {@link ForkStatus#DISABLED}
   * @throws IllegalStateException if this process has already opened a device, by {@link
   *     RdmaDevice#availability} too
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws org.rdma4j.RdmaException if the call fails
   */
  public static ForkStatus initialize() {
    synchronized (LOCK) {
      ForkStatus status = status();
      if (status != ForkStatus.DISABLED) {
        return status;
      }
      if (devicesWereOpened) {
        throw new IllegalStateException(
            "fork support must be initialized before the first device is opened: call"
                + " ForkSupport.initialize first");
      }
      NativeFailures.check(null, "ibv_fork_init", rdma_h.ibv_fork_init());
      return status();
    }
  }

  /**
   * Returns whether native code may call fork() while memory is registered: {@code
   * ibv_is_fork_initialized}.
   *
   * @return the status
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   */
  public static ForkStatus status() {
    NativeLibraries.require();
    return NativeConstants.of(
        ForkStatus.class, rdma_h.ibv_is_fork_initialized(), ForkStatus.DISABLED);
  }
}
