package org.rdma4j;

/**
 * Thrown if libibverbs or librdmacm cannot be loaded. The message names the packages that contain
 * the library on Debian, Fedora and SUSE.
 *
 * <p>Every method that needs the libraries throws it at every call, until they are installed.
 * Constants and configurations need no library.
 *
 * @see org.rdma4j.verbs.RdmaDevice#availability
 */
public final class MissingLibraryException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The soname. */
  private final String library;

  /**
   * Creates the exception for a library that the dynamic linker cannot load.
   *
   * @param library the soname of the library, such as {@code libibverbs.so.1}
   * @param advice how to install it
   */
  public MissingLibraryException(String library, String advice) {
    super("dlopen(" + library + ")", 0, advice);
    this.library = library;
  }

  /**
   * Returns the library that cannot be loaded.
   *
   * @return its soname, such as {@code libibverbs.so.1}
   */
  public String library() {
    return library;
  }
}
