package org.rdma4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class JniPostAndPollTest {
  @ParameterizedTest
  @EnumSource
  void eachPollTakesTheCompletionOfThePostBefore(JniAccess access)
      throws IOException, InterruptedException {
    String printed =
        ChildJvm.run(
            Duration.ofMinutes(1),
            List.of("-Djava.library.path=" + System.getProperty("standin")),
            PostOverJni.class,
            access.name());

    long ids = (AgainstC.LOOP - 1) * AgainstC.LOOP / 2;
    long bytes = (long) AgainstC.LOOP * StandIn.MESSAGE;
    assertThat(printed.strip()).as("ids and lengths, added up").isEqualTo("" + (ids + bytes));
  }
}
