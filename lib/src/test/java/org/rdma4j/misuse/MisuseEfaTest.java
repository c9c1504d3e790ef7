package org.rdma4j.misuse;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.testing.OwnJvm;

/** As {@link MisuseTest}, with a simulated EFA and its queue pairs of SRD: 20 000 calls each. */
@Tag("mlx5")
final class MisuseEfaTest {
  private static final int CALLS = Integer.getInteger("org.rdma4j.misuse.calls", 20_000);

  @ParameterizedTest
  @CsvSource({"1, plain", "4, critical"})
  void randomCallsEndInDocumentedExceptionsAndLeaveNothing(int threads, String calls)
      throws Exception {
    long seed = Long.getLong("org.rdma4j.misuse.seed", System.nanoTime());
    System.out.printf("seed %d for %d threads%n", seed, threads);
    OwnJvm.run(
        Misuse.class,
        Misuse.limit(CALLS).plusMinutes(1),
        List.of("-Dorg.rdma4j.calls=" + calls, "-Dorg.rdma4j.misuse.efa=true"),
        Map.of(),
        Long.toString(seed),
        Integer.toString(CALLS),
        Integer.toString(threads));
  }
}
