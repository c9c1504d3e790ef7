package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Comments, messages and documents use the words of the trade, and name what they are about. */
final class WordsTest {
  /** Phrases to avoid, each with what to write. */
  private static final Map<String, String> AVOIDED =
      Map.ofEntries(
          Map.entry("(?:is|are|was|be|been) told", "is notified of; gets"),
          Map.entry("tells", "reports; notifies; shows; sends"),
          Map.entry("says? why", "has the reason; gives the reason"),
          Map.entry("those that", "the noun again"),
          Map.entry("one that", "the noun again"),
          Map.entry("such a one", "the noun again"),
          Map.entry("notes that", "records that"),
          Map.entry("nobody", "no thread; no program; no process"),
          Map.entry("whoever", "a thread that; a peer that"),
          Map.entry("(?:go|goes|going|gone|went) over", "is upgraded to RDMA"),
          Map.entry("stays? with TCP", "stays on TCP"),
          Map.entry("left alone", "not asked again; unchanged"),
          Map.entry("what is left", "the rest; the remaining buffers"),
          Map.entry("what has come", "the received bytes"),
          Map.entry("what there is to do", "pending work"),
          Map.entry("who waits", "a waiting thread"),
          Map.entry("on (?:its|their) way", "in flight"),
          Map.entry("under way", "in flight; has begun"),
          Map.entry("at once", "immediately; concurrently"),
          Map.entry("beside", "next to; compared with; in addition to"));

  /** A space, or a line break in a comment, in a string of several parts, or in a document. */
  private static final String SPACE = "(?:\"\\s*\\+\\s*\"|\\s|[*/])+";

  private static final List<Pattern> PATTERNS =
      AVOIDED.keySet().stream()
          .map(phrase -> "\\b" + phrase.replace(" ", SPACE) + "\\b")
          .map(phrase -> Pattern.compile(phrase, Pattern.CASE_INSENSITIVE))
          .toList();

  private static final List<String> FOLDERS =
      List.of("lib", "channels", "tools", "samples", "docs");

  private static final Pattern EXCLUDED =
      Pattern.compile(
          // The words themselves, and what is not written by hand.
          ".*/WordsTest\\.java|.*/(target|generated)/.*");

  @Test
  void noSourceAndNoDocumentHasAPhraseToAvoid() throws IOException {
    Path top = Path.of("..").toAbsolutePath().normalize();
    List<Path> files = new ArrayList<>();
    try (Stream<Path> documents = Files.list(top)) {
      documents.forEach(files::add);
    }
    for (String folder : FOLDERS) {
      try (Stream<Path> sources = Files.walk(top.resolve(folder))) {
        sources.forEach(files::add);
      }
    }
    List<String> found = new ArrayList<>();
    int read = 0;
    for (Path file : files) {
      String name = top.relativize(file).toString();
      if (name.matches(".*\\.(java|md)") && !EXCLUDED.matcher(name).matches()) {
        found.addAll(phrases(name, Files.readString(file)));
        read++;
      }
    }
    assertThat(read).isGreaterThan(700);
    assertThat(found).as("write instead: %s", AVOIDED).isEmpty();
  }

  @Test
  void aPhraseIsFoundAcrossTheLinesOfAComment() {
    assertThat(phrases("a", "// Is\n  // told of it")).containsExactly("a:1: Is // told");
    assertThat(phrases("a", "\n * those\n * that")).containsExactly("a:2: those * that");
    assertThat(phrases("a", "\"at \"\n + \"once\"")).hasSize(1);
    assertThat(phrases("a", "It is beside the point. tell() and besides")).hasSize(1);
  }

  private static List<String> phrases(String name, String text) {
    return PATTERNS.stream()
        .flatMap(pattern -> pattern.matcher(text).results())
        .map(
            result ->
                name
                    + ":"
                    + (text.substring(0, result.start()).lines().count()
                        + (result.start() == 0 ? 1 : 0))
                    + ": "
                    + result.group().replaceAll("\\s+", " "))
        .collect(Collectors.toList());
  }
}
