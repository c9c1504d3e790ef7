package org.rdma4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.verbs.CallStyle;

final class CloseTest {
  private static final int CLOSES = Integer.getInteger("org.rdma4j.bench.closes", 500);

  /** The stand-in takes an object's memory away when it is destroyed: a call too late crashes. */
  @ParameterizedTest
  @EnumSource
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
