package org.rdma4j.bench.hotpath;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.bench.standin.ChildJvm;
import org.rdma4j.bench.standin.Queues;
import org.rdma4j.verbs.CallStyle;

final class AllocationTest {
  @ParameterizedTest
  @CsvSource({"CRITICAL, PLAIN", "PLAIN, PLAIN", "CRITICAL, EXTENDED", "PLAIN, EXTENDED"})
  void theHotMethodsAllocateNothing(CallStyle style, Queues queues)
      throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(
            Duration.ofMinutes(2), List.of(), AllocateNothing.class, style.name(), queues.name());

    assertThat(printed.strip()).as("bytes allocated by 100 000 calls").isEqualTo("measured");
  }
}
