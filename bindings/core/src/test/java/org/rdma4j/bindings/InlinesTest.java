package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.testing.headers.Gcc;

/**
 * Every inline function of verbs.h has a method of its name. With a newer header, this test names
 * the functions that are still missing.
 */
final class InlinesTest {
  private static final Pattern INLINE =
      Pattern.compile("static inline[^;{}()]*?\\b_*(ibv_\\w+|verbs_get_ctx)\\s*\\(");

  /** For programs that link the providers statically, which a JVM cannot do. */
  private static final Set<String> NOT_FOR_A_JVM = Set.of("ibv_get_device_list");

  @Test
  void everyInlineOfVerbsHasAMethod(@TempDir Path directory)
      throws IOException, ClassNotFoundException {
    Set<String> missing = inlines(directory);
    assertThat(missing).hasSizeGreaterThan(90);
    missing.removeAll(NOT_FOR_A_JVM);
    missing.removeAll(methods());
    assertThat(missing).isEmpty();
  }

  private static Set<String> inlines(Path directory) throws IOException {
    Path output = directory.resolve("verbs.i");
    Path source =
        Files.writeString(directory.resolve("verbs.c"), "#include <infiniband/verbs.h>\n");
    Gcc.NATIVE.compile("-E", "-P", "-o", output.toString(), source.toString());
    Set<String> names = new TreeSet<>();
    Matcher matcher = INLINE.matcher(Files.readString(output));
    while (matcher.find()) {
      names.add(matcher.group(1));
    }
    return names;
  }

  /**
   * Returns the names of the methods, without suffixes such as {@code $op} and {@code $critical}.
   */
  private static Set<String> methods() throws IOException, ClassNotFoundException {
    Set<String> names = new TreeSet<>();
    Path classes = Path.of("target", "classes").resolve(Path.of("org/rdma4j/bindings/inlines"));
    try (Stream<Path> files = Files.list(classes)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.contains("$") && !name.contains("-")) {
          Class<?> type =
              Class.forName(
                  Verbs.class.getPackageName() + "." + name.substring(0, name.length() - 6));
          for (Method method : type.getMethods()) {
            names.add(method.getName().replaceFirst("\\$.*", ""));
          }
        }
      }
    }
    return names;
  }
}
