package org.rdma4j.bindings;

import static java.util.stream.Collectors.toUnmodifiableMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the bindings with a C program that prints the same facts, built on this machine. */
final class MatchesGccTest {
  private static final String SEPARATOR = " = ";

  @TempDir private Path directory;

  @Test
  void everyGeneratedMemberHasTheOffsetThatGccGivesIt() throws IOException {
    List<Fact> facts = Aarch64.withoutDifferences(Facts.ofTypes());
    assertThat(facts).hasSizeGreaterThan(3000);
    assertThat(mismatches(facts)).isEmpty();
  }

  @Test
  void everyGeneratedConstantHasItsValueInC() throws IOException {
    List<Fact> facts = Facts.ofConstants();
    assertThat(facts).hasSizeGreaterThan(1000);
    assertThat(mismatches(facts)).isEmpty();
  }

  private List<String> mismatches(List<Fact> facts) throws IOException {
    Map<String, Long> values = valuesInC(facts);
    assertThat(values).hasSameSizeAs(facts);
    return facts.stream()
        .filter(fact -> !Objects.equals(fact.value(), values.get(fact.name())))
        .map(
            fact ->
                "%s: %d in Java, %d in C"
                    .formatted(fact.name(), fact.value(), values.get(fact.name())))
        .toList();
  }

  private Map<String, Long> valuesInC(List<Fact> facts) throws IOException {
    Path source = directory.resolve("probe.c");
    Path program = directory.resolve("probe");
    Files.write(source, probe(facts));
    Gcc.NATIVE.compile("-o", program.toString(), source.toString());
    Gcc.Result result = Gcc.execute(List.of(program.toString()));
    assertThat(result.exitCode()).isZero();
    return result.output().stream()
        .map(line -> line.split(SEPARATOR, 2))
        .collect(toUnmodifiableMap(nameAndValue -> nameAndValue[0], MatchesGccTest::value));
  }

  private static List<String> probe(List<Fact> facts) {
    return Stream.of(
            Stream.of(Gcc.HEADERS, "#include <stdio.h>", "int main(void) {"),
            facts.stream().map(MatchesGccTest::print),
            Stream.of("}"))
        .flatMap(lines -> lines)
        .toList();
  }

  private static String print(Fact fact) {
    return "printf(\"%s%s%%lld\\n\", (long long) (%s));"
        .formatted(fact.name(), SEPARATOR, fact.expression());
  }

  private static Long value(String[] nameAndValue) {
    return Long.valueOf(nameAndValue[1]);
  }
}
