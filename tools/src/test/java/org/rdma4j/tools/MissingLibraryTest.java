package org.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;

class MissingLibraryTest {
  @ParameterizedTest
  @CsvSource({
    "rping -s, libibverbs.so.1",
    "rping -c -a 127.0.0.1, libibverbs.so.1",
    "rping -s, librdmacm.so.1",
    "rc-pingpong, libibverbs.so.1",
    "rc-pingpong, librdmacm.so.1",
    "devices, libibverbs.so.1",
    "cmtime, libibverbs.so.1",
    "connection-pingpong, libibverbs.so.1",
  })
  void missingLibraryIsReportedInOneLine(String args, String library, @TempDir Path directory)
      throws Exception {
    // An empty file of that name hides the installed library, and cannot be loaded.
    Files.createFile(directory.resolve(library));
    List<String> words = List.of(args.split(" "));
    List<String> command = new ArrayList<>(List.of("env", "LD_LIBRARY_PATH=" + directory));
    command.addAll(JavaCommand.of(Main.class, words.toArray(new String[0])));
    try (ChildProcess program = ChildProcess.start(command)) {
      Outcome outcome = program.await().withoutNoise();

      assertThat(outcome.out())
          .singleElement()
          .asString()
          .startsWith(words.get(0) + ": ")
          .contains(library);
      assertThat(outcome.status()).isEqualTo(1);
    }
  }
}
