package org.rdma4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FirstCompletionTest {
  @Test
  void itEndsOnceItsWriteIsComplete() throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(Duration.ofMinutes(1), List.of(), FirstCompletion.class, StandIn.FAST, "0");

    assertThat(printed.strip()).isEqualTo("written");
  }
}
