package org.rdma4j;

/**
 * libibverbs or librdmacm could not be loaded. The message names the package that brings it on
 * Debian, Fedora and SUSE.
 */
public final class MissingLibraryException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The soname. */
  private final String library;

  /**
   * A library that the dynamic linker could not load.
   *
   * @param library its soname, such as {@code libibverbs.so.1}
   * @param advice how to install it
   */
  public MissingLibraryException(String library, String advice) {
    super("dlopen(" + library + ")", 0, advice);
    this.library = library;
  }

  /**
   * The library that could not be loaded.
   *
   * @return its soname, such as {@code libibverbs.so.1}
   */
  public String library() {
    return library;
  }
}
