package org.rdma4j.bench.loops;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.bench.standin.ChildJvm;
import org.rdma4j.bench.standin.StandIn;

final class GrowthTest {
  @Test
  void eachLoadRunsInJavaAndInC() throws IOException, InterruptedException {
    String printed = ChildJvm.run(Duration.ofMinutes(2), List.of(), PostUnderEachLoad.class);

    assertThat(printed.strip().split("\n", -1)).hasSameSizeAs(Load.values());
    long bytes = (long) AgainstC.LOOP * StandIn.MESSAGE;
    for (String line : printed.strip().split("\n", -1)) {
      String[] words = line.split(" ", -1);
      assertThat(Long.parseLong(words[1]))
          .as("sum of ids and lengths: %s", line)
          .isGreaterThan(bytes);
      assertThat(Double.parseDouble(words[2])).as("ns in C: %s", line).isPositive();
    }
  }
}
