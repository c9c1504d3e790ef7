package org.rdma4j.bench.standin;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Otherwise, all benchmarks would measure the same calls and report them as two kinds. */
final class CallStyleTest {
  @Test
  void aDeviceIsCalledInTheStyleThatItWasOpenedWith() throws Exception {
    assertThat(ChildJvm.run(Duration.ofMinutes(1), List.of(), OpenInEachStyle.class).lines())
        .containsExactly("device standin0, plain calls", "device standin0, critical calls");
  }
}
