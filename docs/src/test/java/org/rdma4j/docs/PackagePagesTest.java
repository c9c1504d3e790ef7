package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The pages of the exported packages in the Javadoc. */
class PackagePagesTest {
  private static final Path LIB = Path.of("../lib/src/main/java");
  private static final Path BINDINGS = Path.of("../bindings/core/src/main/java");
  private static final Path PROVIDERS = Path.of("../bindings/providers/src/main/java");
  private static final Path NIO = Path.of("../channels/nio/src/main/java");
  private static final Path MICROMETER = Path.of("../channels/micrometer/src/main/java");
  private static final Path NETTY = Path.of("../channels/netty/src/main/java");
  private static final Path VALKEY = Path.of("../channels/valkey/src/main/java");
  private static final Pattern EXPORTS = Pattern.compile("exports ([\\w.]+);");

  /** What the examples take for granted. */
  private static final String BEFORE =
      """
      import static java.nio.charset.StandardCharsets.*;
      import io.micrometer.core.instrument.*;
      import io.netty.bootstrap.*;
      import io.netty.channel.*;
      import java.lang.foreign.*;
      import java.net.*;
      import java.nio.channels.spi.*;
      import java.nio.charset.*;
      import java.time.*;
      import org.rdma4j.*;
      import org.rdma4j.bindings.efa.*;
      import org.rdma4j.bindings.efa.generated.*;
      import org.rdma4j.bindings.generated.*;
      import org.rdma4j.bindings.inlines.*;
      import org.rdma4j.bindings.mlx5.*;
      import org.rdma4j.cm.*;
      import org.rdma4j.connection.*;
      import org.rdma4j.flow.*;
      import org.rdma4j.memory.*;
      import org.rdma4j.micrometer.*;
      import org.rdma4j.netty.*;
      import org.rdma4j.nio.*;
      import org.rdma4j.valkey.*;
      import org.rdma4j.verbs.*;
      import org.rdma4j.verbs.address.*;
      import org.rdma4j.verbs.attribute.*;
      import redis.clients.jedis.*;
      abstract class Example {
        RdmaDevice device;
        ProtectionDomain domain;
        CompletionQueue queue;
        QueuePair queuePair;
        Duration timeout;
        Arena arena;
        MemorySegment context;
        MeterRegistry registry;
        ChannelHandler handler;
        void run() throws Exception {
      """;

  static List<Path> pages() throws Exception {
    List<Path> pages = new ArrayList<>();
    for (Path sources : List.of(LIB, BINDINGS, PROVIDERS, NIO, MICROMETER, NETTY, VALKEY)) {
      pages.addAll(pages(sources));
    }
    return pages;
  }

  /** The package that jextract generates has no page: that of its parent describes it. */
  private static List<Path> pages(Path sources) throws Exception {
    String module = Files.readString(sources.resolve("module-info.java"));
    return EXPORTS
        .matcher(module)
        .results()
        .map(result -> result.group(1))
        .filter(name -> !name.endsWith(".generated"))
        .map(name -> sources.resolve(name.replace('.', '/')).resolve("package-info.java"))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void aPackageHasAnExampleThatCompiles(Path page, @TempDir Path classes) throws Exception {
    List<String> examples = examples(Files.readString(page));
    for (String example : examples) {
      assertThat(compile(BEFORE + example + "\n}}", classes)).isEmpty();
    }
    assertThat(examples).as("examples in %s", page).isNotEmpty();
  }

  /** Returns what is between each start of a snippet and the brace that closes it. */
  private static List<String> examples(String page) {
    String start = "{@snippet :\n";
    List<String> examples = new ArrayList<>();
    int from = page.indexOf(start);
    while (from >= 0) {
      int begin = from + start.length();
      int end = begin;
      for (int open = 1; open > 0; end++) {
        open += page.charAt(end) == '{' ? 1 : page.charAt(end) == '}' ? -1 : 0;
      }
      examples.add(page.substring(begin, end - 1).replaceAll("(?m)^ \\* ?", ""));
      from = page.indexOf(start, end);
    }
    return examples;
  }

  @Test
  void thePageOfVerbsNamesEachOfItsTypes() throws Exception {
    Path verbs = LIB.resolve("org/rdma4j/verbs");
    String page = Files.readString(verbs.resolve("package-info.java"));
    try (Stream<Path> files = Files.list(verbs)) {
      List<String> types =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(PackagePagesTest::isPublic)
              .map(file -> file.getFileName().toString().replace(".java", ""))
              .toList();
      assertThat(types).hasSizeGreaterThan(50);
      assertThat(types).allMatch(type -> page.contains("org.rdma4j.verbs." + type + "}"));
    }
  }

  private static boolean isPublic(Path file) {
    try {
      return Files.readString(file)
          .matches("(?s).*\\npublic (?:\\w+ )*(?:class|record|enum|interface|@interface) .*");
    } catch (java.io.IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }

  private static String compile(String source, Path classes) {
    var file =
        new SimpleJavaFileObject(
            URI.create("string:///Example.java"), SimpleJavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    StringWriter errors = new StringWriter();
    List<String> options =
        List.of(
            "-proc:none", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
    ToolProvider.getSystemJavaCompiler()
        .getTask(errors, null, null, options, null, List.of(file))
        .call();
    return errors.toString();
  }
}
