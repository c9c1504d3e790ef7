package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.OwnJvm;

/** A close frees the memory of the queues, so a post or poll in place after it would crash. */
@Tag("mlx5")
final class InPlaceCloseTest {
  private static final int CLOSES = Integer.getInteger("org.rdma4j.closes.in-place", 1000);

  @Test
  void closingWhileOthersPostAndPollIsSafe() throws IOException, InterruptedException {
    String printed =
        OwnJvm.run(
            CloseInPlace.class,
            Duration.ofSeconds(80),
            List.of(),
            Map.of(),
            Integer.toString(CLOSES),
            Long.toString(System.nanoTime()));
    assertThat(printed.strip()).endsWith(Integer.toString(CLOSES));
  }
}
