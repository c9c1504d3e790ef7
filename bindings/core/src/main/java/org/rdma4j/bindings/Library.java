package org.rdma4j.bindings;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The shared libraries that the bindings call. Each is loaded when one of its functions is first
 * looked up, or by {@link #load()}: constants and struct layouts need neither.
 *
 * <p>A generated function looks itself up in a static initializer, which the JVM runs only once. If
 * that fails, each later call of the function throws NoClassDefFoundError instead of the cause. To
 * get the cause every time, call {@link #load()} on both libraries first.
 */
public final class Library {
  /** The verbs. */
  public static final Library LIBIBVERBS =
      new Library("libibverbs.so.1", "libibverbs1 ibverbs-providers", "libibverbs", "libibverbs1");

  /** The connection manager. */
  public static final Library LIBRDMACM =
      new Library("librdmacm.so.1", "librdmacm1", "librdmacm", "librdmacm1");

  /** The libraries that all programs need, in the order in which functions are looked up. */
  public static final List<Library> ALL = List.of(LIBIBVERBS, LIBRDMACM);

  private final String soname;
  private final String advice;
  private @Nullable SymbolLookup symbols;

  /**
   * Describes another library, such as that of a provider with functions of its own. Nothing is
   * loaded yet.
   *
   * @param soname the name by which the dynamic linker finds it
   * @param debian the packages that contain it on Debian and Ubuntu
   * @param fedora those on Fedora and RHEL
   * @param suse those on SUSE
   */
  public Library(String soname, String debian, String fedora, String suse) {
    this.soname = soname;
    this.advice =
        "Install it: apt install %s (Debian, Ubuntu), dnf install %s (Fedora, RHEL), or zypper install %s (SUSE). If it is installed, LD_DEBUG=libs shows why it cannot be loaded"
            .formatted(debian, fedora, suse);
  }

  /** The name by which the dynamic linker finds the library, such as {@code libibverbs.so.1}. */
  public String soname() {
    return soname;
  }

  /** What to do if the library cannot be loaded: which packages to install. */
  public String advice() {
    return advice;
  }

  /**
   * Loads the library by its soname, so that {@code LD_LIBRARY_PATH} applies, and keeps it loaded
   * until the process ends. Does nothing if it is loaded already.
   *
   * @throws UnsatisfiedLinkError if it cannot be loaded
   * @throws IllegalCallerException if the JVM denies this module native access
   */
  public void load() {
    symbols();
  }

  /**
   * Returns the address of a function, and loads the libraries as far as it takes to find it.
   *
   * @throws UnsatisfiedLinkError if a library cannot be loaded, or none has the function
   * @throws IllegalCallerException if the JVM denies this module native access
   */
  public static MemorySegment find(String function) {
    return lookup(function)
        .orElseThrow(
            () ->
                new UnsatisfiedLinkError(
                    "neither %s nor %s has the function %s: install a newer version of rdma-core"
                        .formatted(LIBIBVERBS.soname, LIBRDMACM.soname, function)));
  }

  /**
   * Returns whether the installed libraries have a function. The bindings are generated from the
   * headers of rdma-core 65, so older libraries lack some of their functions.
   *
   * @throws UnsatisfiedLinkError if a library cannot be loaded
   * @throws IllegalCallerException if the JVM denies this module native access
   */
  public static boolean contains(String function) {
    return lookup(function).isPresent();
  }

  /**
   * Returns whether this library is installed, and loads it if so.
   *
   * @throws IllegalCallerException if the JVM denies this module native access
   */
  public boolean isInstalled() {
    try {
      load();
      return true;
    } catch (UnsatisfiedLinkError missing) {
      return false;
    }
  }

  /**
   * Returns the address of a function of this library, and loads the library.
   *
   * @throws UnsatisfiedLinkError if the library cannot be loaded, or does not have the function
   * @throws IllegalCallerException if the JVM denies this module native access
   */
  public MemorySegment function(String name) {
    return symbols()
        .find(name)
        .orElseThrow(
            () ->
                new UnsatisfiedLinkError(
                    "%s does not have the function %s: install a newer version of rdma-core"
                        .formatted(soname, name)));
  }

  private static Optional<MemorySegment> lookup(String function) {
    for (Library library : ALL) {
      Optional<MemorySegment> found = library.symbols().find(function);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  @Override
  public String toString() {
    return soname;
  }

  private synchronized SymbolLookup symbols() {
    SymbolLookup loaded = symbols;
    if (loaded == null) {
      try {
        loaded = SymbolLookup.libraryLookup(soname, Arena.global());
      } catch (IllegalArgumentException notLoaded) {
        UnsatisfiedLinkError error =
            new UnsatisfiedLinkError(soname + " cannot be loaded. " + advice);
        error.initCause(notLoaded);
        throw error;
      }
      symbols = loaded;
    }
    return loaded;
  }
}
