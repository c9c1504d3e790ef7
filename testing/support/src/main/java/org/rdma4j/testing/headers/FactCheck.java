package org.rdma4j.testing.headers;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a compiler says about facts.
 *
 * @param wrong the facts that do not hold
 * @param unknown the facts about something that the headers do not declare
 */
public record FactCheck(Set<Fact> wrong, Set<Fact> unknown) {
  /** An error: fact n is on line n of what the compiler takes for a file of this name. */
  private static final Pattern ERROR = Pattern.compile("facts:(\\d+):\\d+: error: (.*)");

  private static final String REFUTED = "static assertion failed";

  /**
   * Compares facts with what a compiler says. Each becomes a static assertion, which a cross
   * compiler checks, too, because nothing has to run.
   *
   * @param header the file in the folder {@code jextract} that includes what the facts are about
   */
  public static FactCheck of(List<Fact> facts, String header, Gcc gcc, String... options) {
    Set<Fact> wrong = new LinkedHashSet<>();
    Set<Fact> unknown = new LinkedHashSet<>();
    for (String error : errors(facts, header, gcc, options)) {
      Matcher matcher = ERROR.matcher(error);
      if (!matcher.matches()) {
        throw new AssertionError(error);
      }
      Fact fact = facts.get(Integer.parseInt(matcher.group(1)) - 1);
      (matcher.group(2).startsWith(REFUTED) ? wrong : unknown).add(fact);
    }
    // The compiler reports an unknown constant only once, and takes every use of it for right.
    for (Fact fact : facts) {
      if (unknown.stream().anyMatch(other -> other.symbol().equals(fact.symbol()))) {
        unknown.add(fact);
      }
    }
    wrong.removeAll(unknown);
    return new FactCheck(wrong, unknown);
  }

  private static List<String> errors(List<Fact> facts, String header, Gcc gcc, String... options) {
    try {
      Path source = Files.createTempFile("facts", ".c");
      try {
        Files.writeString(
            source,
            facts.stream()
                .map(FactCheck::assertion)
                .collect(joining("\n", start(header) + "#line 1 \"facts\"\n", "\n")));
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("-fsyntax-only", "-fmax-errors=0", source.toString()));
        return gcc.run(arguments.toArray(String[]::new)).output().stream()
            .filter(line -> line.contains("error: "))
            .toList();
      } finally {
        Files.delete(source);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String start(String header) {
    return """
    #include "%s"
    #include <stddef.h>
    #include <stdint.h>
    """
        .formatted(Path.of("jextract", header).toAbsolutePath());
  }

  private static String assertion(Fact fact) {
    return "_Static_assert((%s) == %d, \"%s\");"
        .formatted(fact.expression(), fact.value(), fact.name());
  }
}
