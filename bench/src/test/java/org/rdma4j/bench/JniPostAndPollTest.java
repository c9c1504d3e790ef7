package org.rdma4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class JniPostAndPollTest {
  @Test
  void eachPollTakesTheCompletionOfThePostBefore() throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(
            Duration.ofMinutes(1),
            List.of("-Djava.library.path=" + System.getProperty("standin")),
            PostOverJni.class);

    long ids = (AgainstC.LOOP - 1) * AgainstC.LOOP / 2;
    long bytes = (long) AgainstC.LOOP * StandIn.MESSAGE;
    assertThat(printed.strip().split(" ", -1))
        .as("ids and lengths, added up, of both ways")
        .hasSize(2)
        .containsOnly(Long.toString(ids + bytes));
  }
}
