package org.rdma4j.bench.posts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("slow")
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
  void sendsAndPollsAllocateNothing(String style, String queues)
      throws IOException, InterruptedException {
    assertThat(allocations(ChildJvm.STEPPED_SINK, style, queues, "sends"))
        .as("bytes allocated by 100 000 calls")
        .isEqualTo(NOTHING);
  }

  @ParameterizedTest
  @CsvSource({"CRITICAL, PLAIN", "PLAIN, PLAIN", "CRITICAL, EXTENDED", "PLAIN, EXTENDED"})
  void receivesAllocateNothing(String style, String queues)
      throws IOException, InterruptedException {
    assertThat(allocations(ChildJvm.STEPPED, style, queues, "receives"))
        .as("bytes allocated by 100 000 calls")
        .isEqualTo(NOTHING);
  }

  private static String allocations(Map<String, String> adapter, String... arguments)
      throws IOException, InterruptedException {
    String printed = "";
    for (int i = 0; i < JVMS && !printed.equals(NOTHING); i++) {
      printed =
          ChildJvm.run(AllocateNothing.class, Duration.ofMinutes(1), List.of(), adapter, arguments)
              .strip();
    }
    return printed;
  }
}
