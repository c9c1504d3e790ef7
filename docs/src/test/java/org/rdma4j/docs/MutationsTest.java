package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.Command;

/** The mutations, which {@code dev/mutations} runs once a week. */
class MutationsTest {
  private static final Path TOP = Path.of("..");

  /** Otherwise a mutation whose code has moved is noticed only then, and ends that run. */
  @Test
  void eachAppliesToTheCode() throws Exception {
    try (Stream<Path> patches = Files.list(TOP.resolve("lib/src/test/mutations"))) {
      assertThat(patches.map(TOP::relativize))
          .isNotEmpty()
          .allSatisfy(
              patch ->
                  Command.output(
                      new ProcessBuilder("git", "apply", "--check", patch.toString())
                          .directory(TOP.toFile())));
    }
  }
}
