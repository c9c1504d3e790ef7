package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The mutations, which {@code dev/mutations} runs once a week. */
class MutationsTest {
  private static final Path TOP = Path.of("..");

  /** Otherwise a mutation whose code has moved is noticed only then, and ends that run. */
  @Test
  void eachAppliesToTheCode() throws Exception {
    List<String> failures = new ArrayList<>();
    List<Path> patches;
    try (Stream<Path> files = Files.list(TOP.resolve("lib/src/test/mutations"))) {
      patches = files.map(TOP::relativize).sorted().toList();
    }
    for (Path patch : patches) {
      Process git =
          new ProcessBuilder("git", "apply", "--check", patch.toString())
              .directory(TOP.toFile())
              .redirectErrorStream(true)
              .start();
      String reason = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (git.waitFor() != 0) {
        failures.add(patch + ": " + reason);
      }
    }
    assertThat(failures).isEmpty();
    assertThat(patches).isNotEmpty();
  }
}
