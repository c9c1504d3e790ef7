package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The code in the pages is that of the sources, which the tests compile and run. */
class SnippetsTest {
  private static final Path TOP = Path.of("..");

  @TempDir Path top;

  static List<Path> pages() throws IOException {
    return Snippets.pages(TOP);
  }

  @ParameterizedTest
  @MethodSource("pages")
  void aPageShowsWhatTheSourcesHave(Path page) throws Exception {
    String text = Files.readString(page);
    assertThat(text)
        .as("if not, run: dev/docs --snippets")
        .isEqualTo(new Snippets(TOP).update(text));
  }

  @ParameterizedTest
  @MethodSource("pages")
  void allJavaOfAPageComesFromSources(Path page) throws Exception {
    String text = Files.readString(page);
    Pattern unsourced = Pattern.compile("(?<!-->\\n)```java");
    assertThat(unsourced.matcher(text).find()).as("Java without a source in %s", page).isFalse();
  }

  @BeforeEach
  void writeSource() throws IOException {
    Files.writeString(
        top.resolve("A.java"),
        """
        class A {
            // snippet: one
            int a;

              int b;
            // end
            int c;
            // snippet: one
            int d;
            // end
            // snippet: open
            int e;
        }
        """);
  }

  @Test
  void aBlockGetsTheLinesBetweenTheMarkersWithoutTheirIndent() throws Exception {
    assertThat(update("<!-- snippet: ./A.java one -->\n```java\nold\n```\nend"))
        .isEqualTo("<!-- snippet: ./A.java one -->\n```java\nint a;\n\n  int b;\nint d;\n```\nend");
  }

  @Test
  void aBlockWithoutANameGetsTheWholeFile() throws Exception {
    assertThat(update("<!-- snippet: ./A.java -->\n```java\n```")).contains("int c;");
  }

  @Test
  void aMissingSnippetIsReported() {
    assertThatThrownBy(() -> update("<!-- snippet: ./A.java two -->\n```java\n```"))
        .hasMessageContaining("has no snippet two");
    assertThatThrownBy(() -> update("<!-- snippet: ./A.java open -->\n```java\n```"))
        .hasMessageContaining("does not end snippet open");
  }

  private String update(String page) throws IOException {
    return new Snippets(top).update(page);
  }
}
