package org.rdma4j.bench.posts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.verbs.RdmaDevice;

/** Otherwise, {@code dev/bench posts} would measure the same calls and report them as two kinds. */
@Tag("slow")
final class CallStyleTest {
  /** Opens a device in the style that its argument names, and prints what it says of itself. */
  static final class Open {
    public static void main(String[] arguments) {
      try (RdmaDevice device = CallStyle.valueOf(arguments[0]).open("mlx5_0")) {
        System.out.println(device);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"PLAIN, plain calls", "CRITICAL, critical calls"})
  void aDeviceIsCalledInTheStyleThatItWasOpenedWith(String style, String expected)
      throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(Open.class, Duration.ofMinutes(1), List.of(), ChildJvm.SINK, style);

    assertThat(printed.strip()).isEqualTo("device mlx5_0, " + expected);
  }
}
