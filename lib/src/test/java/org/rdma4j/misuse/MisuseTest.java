package org.rdma4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * No order of calls crashes the JVM: 200 000 random calls, half of them from one thread and half
 * from four. A failure reports its seed. With {@code -Dorg.rdma4j.misuse.seed=} and one thread, a
 * run repeats the same calls, except for what the device does meanwhile. {@code
 * -Dorg.rdma4j.misuse.calls=} sets the number of calls of each half.
 */
@Tag("device")
@Tag("slow")
@Timeout(6000)
final class MisuseTest {
  private static final int CALLS = Integer.getInteger("org.rdma4j.misuse.calls", 100_000);

  @ParameterizedTest
  @CsvSource({"1, plain", "4, critical"})
  void randomCallsEndInDocumentedExceptionsAndLeaveNothing(
      int threads, String calls, @TempDir Path directory) throws Exception {
    long seed = Long.getLong("org.rdma4j.misuse.seed", System.nanoTime());
    System.out.printf("seed %d for %d threads%n", seed, threads);
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:ErrorFile=/dev/stderr",
                    "-Dorg.rdma4j.calls=" + calls,
                    "-cp",
                    System.getProperty("java.class.path"),
                    Misuse.class.getName(),
                    Long.toString(seed),
                    Integer.toString(CALLS),
                    Integer.toString(threads)))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      long limit = Misuse.limit(CALLS).plusMinutes(1).toSeconds();
      assertThat(process.waitFor(limit, TimeUnit.SECONDS))
          .as("ended, seed %d:%n%s", seed, Files.readString(output))
          .isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue())
        .as("exit status, seed %d:%n%s", seed, Files.readString(output))
        .isZero();
  }
}
