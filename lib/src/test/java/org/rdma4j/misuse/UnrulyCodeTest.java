package org.rdma4j.misuse;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.OwnJvm;

/**
 * Whatever user code does where the library calls it, it ends nothing but its own connection, and
 * no call waits for it for longer than documented. {@code -Dorg.rdma4j.unruly.calls=} sets the
 * number of calls, {@code -Dorg.rdma4j.unruly.seed=} the seed, which a failure reports, and {@code
 * -Dorg.rdma4j.unruly.slack=} the seconds that a call may take in addition to the time that it
 * waits.
 */
@Tag("device")
@Tag("protocol")
@Tag("slow")
@Timeout(3600)
final class UnrulyCodeTest {
  private static final int CALLS = Integer.getInteger("org.rdma4j.unruly.calls", 10_000);
  private static final int THREADS = 6;

  @ParameterizedTest(name = "careless: {0}")
  @ValueSource(booleans = {false, true})
  void codeOfUsersThatDoesAnythingEndsNothingElseAndLeavesNothing(boolean careless)
      throws Exception {
    long seed = Long.getLong("org.rdma4j.unruly.seed", System.nanoTime());
    int slack = Integer.getInteger("org.rdma4j.unruly.slack", 20);
    System.out.println("seed " + seed);
    Duration limit = Duration.ofMinutes(5).plusMillis(20L * CALLS);
    String output =
        OwnJvm.run(
            Unruly.class,
            limit,
            List.of(),
            Map.of(),
            Long.toString(seed),
            Boolean.toString(careless),
            Integer.toString(CALLS),
            Integer.toString(THREADS),
            Integer.toString(slack));
    System.out.println(output);
  }
}
