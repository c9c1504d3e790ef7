package org.rdma4j.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import org.rdma4j.MissingLibraryException;

/**
 * Tells in one clear exception that a library is missing, before the generated bindings fail at it
 * in a static initialiser.
 */
public final class NativeLibraries {
  static {
    // mlx5 would have the device put short messages into the completion, from which a poll copies
    // them to where the receive pointed: by then nothing may be mapped there any more. It looks at
    // this when it creates a queue pair.
    Libc.setEnvironment("MLX5_SCATTER_TO_CQE", "0");
  }

  /** Each further load would hold the libraries once more, for good. */
  private static volatile boolean loaded;

  private NativeLibraries() {}

  /**
   * Loads libibverbs and librdmacm by soname, so that {@code LD_LIBRARY_PATH} counts; where they
   * are loaded, does nothing. From any thread. Before, it sets {@code MLX5_SCATTER_TO_CQE} to 0
   * where the environment has no value for it, so that no poll copies a message into the memory of
   * its receive.
   *
   * @throws MissingLibraryException where one cannot be loaded
   */
  public static void require() {
    if (!loaded) {
      require("libibverbs.so.1", "libibverbs1 ibverbs-providers", "libibverbs", "libibverbs1");
      require("librdmacm.so.1", "librdmacm1", "librdmacm", "librdmacm1");
      loaded = true;
    }
  }

  private static void require(String library, String debian, String fedora, String suse) {
    try {
      SymbolLookup.libraryLookup(library, Arena.global());
    } catch (IllegalArgumentException unloadable) {
      MissingLibraryException missing =
          new MissingLibraryException(
              library,
              "Install it: apt install %s (Debian, Ubuntu), dnf install %s (Fedora, RHEL), or zypper install %s (SUSE)"
                  .formatted(debian, fedora, suse));
      missing.initCause(unloadable);
      throw missing;
    }
  }
}
