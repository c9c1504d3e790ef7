package org.rdma4j.bench.standin;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;

/** The native libraries of the benchmarks, which the build puts beside the classes and the jar. */
public final class StandInLibraries {
  private static final Path DIRECTORY = directory();

  private StandInLibraries() {}

  /**
   * Loads the libraries that take the place of libibverbs and librdmacm. To be called before rdma4j
   * loads those: the dynamic linker then gives it the loaded ones, because they have the same
   * sonames.
   */
  static void load() {
    for (String name : List.of("libibverbs.so.1", "librdmacm.so.1")) {
      System.load(of(name).toString());
    }
  }

  /**
   * Returns the file of a library.
   *
   * @param name the file's name
   * @return its absolute path
   */
  public static Path of(String name) {
    return DIRECTORY.resolve(name);
  }

  private static Path directory() {
    try {
      Path code =
          Path.of(
              StandInLibraries.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return code.toAbsolutePath().resolveSibling("native");
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
