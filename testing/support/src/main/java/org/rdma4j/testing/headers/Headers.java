package org.rdma4j.testing.headers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The headers of rdma-core that gcc finds: the installed ones, or those in the directory {@code
 * C_INCLUDE_PATH}. Both compilers read that variable.
 */
public final class Headers {
  /** The version of rdma-core from whose headers the bindings were generated. */
  public static final int OF_THE_BINDINGS = 65;

  private static final Pattern VERBS = Pattern.compile("\\S+/include(?=/infiniband/verbs\\.h)");

  /** libibverbs has a version of its own, which ends with that of rdma-core. */
  private static final Pattern VERSION_LINE = Pattern.compile("Version: \\d+\\.\\d+\\.(\\d+).*");

  /** The version of rdma-core that the headers belong to. */
  public static final int VERSION = version();

  private Headers() {}

  private static int version() {
    Path lib = include().resolveSibling("lib");
    Path lib64 = lib.resolveSibling("lib64");
    try {
      for (Path file : packages(lib, lib64)) {
        for (String line : Files.readAllLines(file)) {
          Matcher matcher = VERSION_LINE.matcher(line);
          if (matcher.matches()) {
            return Integer.parseInt(matcher.group(1));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalStateException(
        "neither %s nor %s has pkgconfig/libibverbs.pc, which tells the version of the headers: install libibverbs-dev, or unpack that package with its headers"
            .formatted(lib, lib64));
  }

  private static List<Path> packages(Path... directories) throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path directory : directories) {
      if (Files.isDirectory(directory)) {
        try (Stream<Path> files = Files.find(directory, 3, (file, facts) -> isPackage(file))) {
          found.addAll(files.toList());
        }
      }
    }
    return found;
  }

  private static boolean isPackage(Path file) {
    return file.endsWith(Path.of("pkgconfig", "libibverbs.pc"));
  }

  /** Returns the directory in which gcc finds {@code infiniband/verbs.h}. */
  public static Path include() {
    try {
      Path source = Files.createTempFile("include", ".c");
      try {
        Files.writeString(source, "#include <infiniband/verbs.h>\n");
        Gcc.Result result = Gcc.NATIVE.run("-M", source.toString());
        Matcher matcher = VERBS.matcher(String.join("\n", result.output()));
        if (!matcher.find()) {
          throw new AssertionError(String.join("\n", result.output()));
        }
        return Path.of(matcher.group());
      } finally {
        Files.delete(source);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
