package org.rdma4j.misuse;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** As {@link MisuseTest}, with a simulated EFA and its queue pairs of SRD: 20 000 calls each. */
@Tag("mlx5")
final class MisuseEfaTest {
  private static final int CALLS = Integer.getInteger("org.rdma4j.misuse.calls", 20_000);

  @ParameterizedTest
  @CsvSource({"1, plain", "4, critical"})
  void randomCallsEndInDocumentedExceptionsAndLeaveNothing(int threads, String calls)
      throws Exception {
    Misuse.inItsOwnJvm(
        CALLS, threads, "-Dorg.rdma4j.calls=" + calls, "-Dorg.rdma4j.misuse.efa=true");
  }
}
