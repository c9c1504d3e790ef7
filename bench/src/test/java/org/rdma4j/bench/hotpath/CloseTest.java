package org.rdma4j.bench.hotpath;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.bench.standin.CallStyle;
import org.rdma4j.bench.standin.ChildJvm;

final class CloseTest {
  private static final int CLOSES = Integer.getInteger("org.rdma4j.bench.closes", 500);

  /** The stand-in device unmaps an object when it is destroyed, so a call after that crashes. */
  @ParameterizedTest
  @EnumSource
  @Timeout(value = 2, unit = TimeUnit.HOURS) // The program has a limit of its own.
  void closingWhileOthersPostAndPollIsSafe(CallStyle style)
      throws IOException, InterruptedException {
    long seed = System.nanoTime();

    String printed =
        ChildJvm.run(
            Duration.ofMinutes(1).plusMillis(20L * CLOSES),
            List.of(),
            CloseUnderLoad.class,
            style.name(),
            Integer.toString(CLOSES),
            Long.toString(seed));

    assertThat(printed.strip()).as("closes, seed %s", seed).isEqualTo(Integer.toString(CLOSES));
  }
}
