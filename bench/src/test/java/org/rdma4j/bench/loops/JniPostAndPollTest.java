package org.rdma4j.bench.loops;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.bench.standin.ChildJvm;
import org.rdma4j.bench.standin.StandIn;

final class JniPostAndPollTest {
  @Test
  void eachPollReturnsTheCompletionOfThePrecedingPost() throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(
            Duration.ofMinutes(1),
            List.of("-Djava.library.path=" + System.getProperty("standin")),
            PostOverJni.class);

    long ids = (AgainstC.LOOP - 1) * AgainstC.LOOP / 2;
    long bytes = (long) AgainstC.LOOP * StandIn.MESSAGE;
    assertThat(printed.strip().split(" ", -1))
        .as("sums of ids and lengths, serialized and field by field")
        .hasSize(2)
        .containsOnly(Long.toString(ids + bytes));
  }
}
