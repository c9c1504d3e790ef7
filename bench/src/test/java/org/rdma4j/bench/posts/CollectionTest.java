package org.rdma4j.bench.posts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("slow")
final class CollectionTest {
  private static final long MAX_MILLIS = 200;

  @ParameterizedTest
  @CsvSource({
    "-XX:+UseG1GC, polls",
    "-XX:+UseZGC, polls",
    "-XX:+UseG1GC, posts",
    "-XX:+UseZGC, posts"
  })
  void threadThatPollsOrPostsWithoutEndDoesNotDelayTheCollector(String collector, String spins)
      throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(
            CollectWhilePolling.class,
            Duration.ofMinutes(1),
            List.of(collector, "-Xmx256m"),
            ChildJvm.SINK,
            spins);

    String[] millis = printed.strip().split(" ", -1);
    assertThat(Long.parseLong(millis[0]))
        .as("median of System.gc() in ms with %s, the longest took %s", collector, millis[1])
        .isLessThan(MAX_MILLIS);
  }
}
