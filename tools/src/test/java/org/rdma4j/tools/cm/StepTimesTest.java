package org.rdma4j.tools.cm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rdma4j.tools.cm.StepTimes.Step;

class StepTimesTest {
  private static final String HEADER =
      "step              total ms     max ms     min us  us / conn";

  private final StepTimes times = new StepTimes(2);

  @Test
  void stepHasTheTimesOfItsConnections() {
    times.beginAll(Step.CONNECT, -1_000_000);
    times.begin(Step.CONNECT, 0, 0);
    times.end(Step.CONNECT, 0, 250_000);
    times.begin(Step.CONNECT, 1, 1_000_000);
    times.end(Step.CONNECT, 1, 2_500_000);
    times.endAll(Step.CONNECT, 2_000_000);

    assertThat(times.table())
        .containsExactly(HEADER, "connect      :        3.00       1.50     250.00    1500.00");
  }

  @Test
  void unfinishedStepHasTheBoundsOfC() {
    times.beginAll(Step.DISCONNECT, 0);
    times.begin(Step.DISCONNECT, 0, 0);
    times.endAll(Step.DISCONNECT, 40_000);

    assertThat(times.table())
        .containsExactly(HEADER, "disconnect   :        0.04       0.001000000000.00      20.00");
  }

  @Test
  void onlyTakenStepsAreListedInTheirOrder() {
    for (Step step : new Step[] {Step.DESTROY, Step.CREATE_ID}) {
      times.beginAll(step, 0);
      times.endAll(step, 0);
    }

    assertThat(times.table())
        .extracting(line -> line.substring(0, 13).strip())
        .containsExactly("step", "create id", "destroy");
  }
}
