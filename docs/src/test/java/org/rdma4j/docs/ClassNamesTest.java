package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The name of a class says which one it is: no other class of the project has it. */
final class ClassNamesTest {
  @Test
  void noTwoClassesHaveTheSameSimpleName() throws IOException {
    Map<String, Path> seen = new HashMap<>();
    for (Path file : sources(Path.of(".."))) {
      String name = String.valueOf(file.getFileName());
      assertThat(seen.put(name, file)).as("another %s than %s", name, file).isNull();
    }
    assertThat(seen).containsKeys("RdmaDevice.java", "Doctor.java", "Rcopy.java");
  }

  /** The sources of all modules, without generated ones after C's names. */
  private static List<Path> sources(Path top) throws IOException {
    // A module is a folder at the top, or a folder in one.
    try (Stream<Path> folders = Files.walk(top, 2)) {
      return folders
          .map(folder -> folder.resolve("src/main/java"))
          .filter(Files::isDirectory)
          .flatMap(ClassNamesTest::files)
          .filter(file -> !file.toString().contains("/generated/"))
          .filter(file -> !file.toString().matches(".*/(package|module)-info\\.java"))
          .toList();
    }
  }

  private static Stream<Path> files(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }
}
