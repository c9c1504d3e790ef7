package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.testing.Command;

final class PlatformTest {
  @Test
  void errnoNamesAndValuesAreThoseOfTheCompiler(@TempDir Path directory) throws Exception {
    StringBuilder program = new StringBuilder("#include <errno.h>\n");
    for (ErrorNumber number : ErrorNumber.values()) {
      program.append(
          "_Static_assert(%s == %d, \"%s\");%n".formatted(number, number.value(), number));
    }
    Path source = Files.writeString(directory.resolve("errno.c"), program);
    assertThat(Command.output("gcc", "-fsyntax-only", source.toString())).isEmpty();
  }

  @Test
  void anErrnoIsDescribedByNameNumberAndMeaning() {
    assertThat(new RdmaException("ibv_reg_mr(9 bytes)", 12))
        .hasMessageStartingWith("ibv_reg_mr(9 bytes) failed: ENOMEM (12), cannot allocate memory. ")
        .hasMessageContaining("ulimit -l");
    assertThat(new RdmaException("x", 9999).errnoName()).isEqualTo("9999");
    assertThat(new RdmaException("x", 9999)).hasMessage("x failed: errno 9999");
  }
}
