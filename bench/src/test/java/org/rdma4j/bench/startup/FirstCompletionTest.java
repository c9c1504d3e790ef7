package org.rdma4j.bench.startup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.bench.standin.ChildJvm;
import org.rdma4j.bench.standin.StandIn;

final class FirstCompletionTest {
  @Test
  void programEndsAfterItsWriteIsComplete() throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(Duration.ofMinutes(1), List.of(), FirstCompletion.class, StandIn.FAST, "0");

    assertThat(printed.strip()).isEqualTo("written");
  }
}
