package org.rdma4j.platform;

import static java.util.stream.Collectors.joining;

import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.rdma4j.MissingLibraryException;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.Library;
import org.rdma4j.bindings.NativeAccess;

/**
 * Checks that this JVM can call libibverbs and librdmacm.
 *
 * <p>Every public method that calls C and can be reached without an object of this library calls
 * {@link #require()} first. Without that check the generated bindings would fail in a static
 * initializer: the first call would throw ExceptionInInitializerError, and each later one
 * NoClassDefFoundError.
 */
public final class NativeLibraries {
  private static volatile boolean accessible;
  private static volatile boolean loaded;

  private NativeLibraries() {}

  /**
   * Loads libibverbs and librdmacm, unless they are loaded already. From any thread.
   *
   * <p>They are loaded by soname, so that {@code LD_LIBRARY_PATH} applies. Before that, {@code
   * MLX5_SCATTER_TO_CQE} is set to 0 if the environment has no value for it, so that no poll copies
   * a message into the memory of its receive.
   *
   * @throws MissingLibraryException if one of them cannot be loaded, at every call
   * @throws RdmaException if the JVM denies native access, at every call; the message names the
   *     option that allows it
   */
  public static void require() {
    if (!loaded) {
      load();
    }
  }

  private static synchronized void load() {
    requireNativeAccess();
    // mlx5 would have the device put short messages into the completion, and a poll would copy them
    // to where the receive pointed. By then, nothing may be mapped there any more. mlx5 reads the
    // variable when it creates a queue pair.
    Libc.setEnvironment("MLX5_SCATTER_TO_CQE", "0");
    for (Library library : Library.ALL) {
      load(library);
    }
    loaded = true;
  }

  private static void load(Library library) {
    try {
      library.load();
    } catch (UnsatisfiedLinkError notLoaded) {
      MissingLibraryException missing =
          new MissingLibraryException(library.soname(), library.advice());
      missing.initCause(notLoaded);
      throw missing;
    }
  }

  /**
   * Checks that the JVM allows this module and the bindings to call C.
   *
   * <p>A JVM denies it with {@code --illegal-native-access=deny}, or, before JDK 24, with an {@code
   * --enable-native-access} that names other modules only. {@link Module#isNativeAccessEnabled} is
   * of no use here: it is also false if the JVM would merely print a warning. So this method makes
   * a harmless restricted call from each of the two modules.
   *
   * @throws RdmaException if the JVM denies it; the message names the option that allows it
   */
  public static void requireNativeAccess() {
    if (accessible) {
      return;
    }
    try {
      MemorySegment unused = MemorySegment.NULL.reinterpret(0);
      NativeAccess.check();
    } catch (IllegalCallerException denied) {
      RdmaException failure =
          new RdmaException(
              "native access",
              0,
              "This JVM does not allow rdma4j to call C: start java with --enable-native-access="
                  + modules());
      failure.initCause(denied);
      throw failure;
    }
    accessible = true;
  }

  /** The modules that need native access, as the option names them. */
  private static String modules() {
    return Stream.of(NativeLibraries.class, NativeAccess.class)
        .map(Class::getModule)
        .map(module -> module.isNamed() ? module.getName() : "ALL-UNNAMED")
        .distinct()
        .collect(joining(","));
  }
}
