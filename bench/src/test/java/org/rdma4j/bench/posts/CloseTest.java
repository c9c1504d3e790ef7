package org.rdma4j.bench.posts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("slow")
final class CloseTest {
  private static final int CLOSES = Integer.getInteger("org.rdma4j.bench.closes", 500);

  /** Freed memory is overwritten, so a call into libmlx5 after the end of an object crashes. */
  private static final Map<String, String> OVERWRITING =
      Map.of("MLX5SIM_SINK", "1", "MALLOC_PERTURB_", "165");

  @ParameterizedTest
  @EnumSource
  @Timeout(value = 2, unit = TimeUnit.HOURS) // The program has a limit of its own.
  void closingWhileOthersPostAndPollIsSafe(CallStyle style)
      throws IOException, InterruptedException {
    long seed = System.nanoTime();

    String printed =
        ChildJvm.run(
            CloseUnderLoad.class,
            Duration.ofMinutes(1).plusMillis(20L * CLOSES),
            List.of(),
            OVERWRITING,
            style.name(),
            Integer.toString(CLOSES),
            Long.toString(seed));

    assertThat(printed.strip()).as("closes, seed %s", seed).isEqualTo(Integer.toString(CLOSES));
  }
}
