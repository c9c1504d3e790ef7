package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.RdmaException;

/** The Java programs that README.md prints compile as they stand. */
final class ReadmeSnippetsTest {
  private static final Pattern SNIPPET = Pattern.compile("(?ms)^```java\\n(.*?)^```$");
  private static final String IMPORTS =
      """
      import java.net.*;
      import java.nio.charset.*;
      import java.time.*;
      import org.rdma4j.*;
      import org.rdma4j.connection.*;
      import org.rdma4j.verbs.*;
      """;

  static List<String> snippets() throws Exception {
    String readme = Files.readString(Path.of("../README.md"));
    return SNIPPET.matcher(readme).results().map(result -> result.group(1)).toList();
  }

  @Test
  void theReadmeHasAProgramOnConnectionsAndOneOnVerbs() throws Exception {
    assertThat(snippets()).anyMatch(each -> each.contains("RdmaConnection.connect"));
    assertThat(snippets()).anyMatch(each -> each.contains("RdmaDevice.open"));
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void aProgramCompiles(String snippet, @TempDir Path classes) throws Exception {
    assertThat(
            compile(
                IMPORTS + "class Snippet { void run() throws Exception {\n" + snippet + "}}",
                classes))
        .isEmpty();
  }

  @Test
  void aProgramThatUsesAMissingMethodDoesNotCompile(@TempDir Path classes) throws Exception {
    assertThat(compile(IMPORTS + "class Snippet {{ RdmaDevice.none(); }}", classes))
        .contains("cannot find symbol");
  }

  private static String compile(String source, Path classes) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    SimpleJavaFileObject file =
        new SimpleJavaFileObject(
            URI.create("string:///Snippet.java"), SimpleJavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    String library =
        Path.of(RdmaException.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString();
    StringWriter errors = new StringWriter();
    compiler
        .getTask(
            errors,
            null,
            null,
            List.of("-proc:none", "-d", classes.toString(), "-cp", library),
            null,
            Stream.of(file).toList())
        .call();
    return errors.toString();
  }
}
