import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.spi.ToolProvider;

/**
 * Compiles the sources of each directory, and packs the classes into the jar of that directory. One
 * JVM does this five times as fast as one for each.
 *
 * <p>{@code java dev/lib/CompileEach.java CLASS-PATH DIRECTORY...}
 */
final class CompileEach {
  private static final ToolProvider JAVAC = ToolProvider.findFirst("javac").orElseThrow();
  private static final ToolProvider JAR = ToolProvider.findFirst("jar").orElseThrow();

  private CompileEach() {}

  public static void main(String[] arguments) throws IOException {
    boolean failed = false;
    for (String directory : Arrays.asList(arguments).subList(1, arguments.length)) {
      if (!compile(arguments[0], Path.of(directory))) {
        System.err.println(directory + " does not compile");
        failed = true;
      }
    }
    System.exit(failed ? 1 : 0);
  }

  private static boolean compile(String classPath, Path directory) throws IOException {
    String classes = directory.resolve("classes").toString();
    List<String> options = new ArrayList<>();
    options.addAll(List.of("--release", "22", "-proc:none", "-nowarn", "-cp", classPath));
    options.addAll(List.of("-d", classes));
    try (var files = Files.walk(directory)) {
      files.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(options::add);
    }
    String jar = directory.resolve("mutant.jar").toString();
    return run(JAVAC, options.toArray(new String[0])) == 0
        && run(JAR, "--create", "--no-compress", "--file", jar, "-C", classes, ".") == 0;
  }

  private static int run(ToolProvider tool, String... options) {
    return tool.run(System.out, System.err, options);
  }
}
