package org.rdma4j.misuse;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * No order of calls crashes the JVM: 200 000 random calls, half of them from one thread and half
 * from four; a tenth of them in the default guest, whose processor is emulated. A failure reports
 * its seed. With {@code -Dorg.rdma4j.misuse.seed=} and one thread, a run repeats the same calls,
 * except for what the device does meanwhile. {@code -Dorg.rdma4j.misuse.calls=} sets the number of
 * calls of each half.
 */
@Tag("device")
@Tag("slow")
@Timeout(6000)
final class MisuseTest {
  private static final int CALLS =
      Integer.getInteger(
          "org.rdma4j.misuse.calls",
          "default".equals(System.getenv("RDMA4J_GUEST")) ? 10_000 : 100_000);

  @ParameterizedTest
  @CsvSource({"1, plain", "4, critical"})
  void randomCallsEndInDocumentedExceptionsAndLeaveNothing(int threads, String calls)
      throws Exception {
    Misuse.inItsOwnJvm(CALLS, threads, "-Dorg.rdma4j.calls=" + calls);
  }
}
