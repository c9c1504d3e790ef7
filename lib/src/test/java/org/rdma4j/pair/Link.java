package org.rdma4j.pair;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** Disturbs this guest's end of the link between the guests of a pair. */
record Link(String change, String undo) {
  private static final String DEVICE = "eth0";

  static Link undisturbed() {
    return new Link("true", "true");
  }

  /** Loses this percentage of the packets that this guest sends. */
  static Link losing(int percent) {
    return disturbed("loss " + percent + "%");
  }

  /** Delays the packets that this guest sends. */
  static Link delaying(Duration delay) {
    return disturbed("delay " + delay.toMillis() + "ms");
  }

  private static Link disturbed(String options) {
    return new Link(
        "tc qdisc add dev " + DEVICE + " root netem limit 10000 " + options,
        "tc qdisc del dev " + DEVICE + " root");
  }

  static Link down() {
    return new Link("ip link set " + DEVICE + " down", "ip link set " + DEVICE + " up");
  }

  /** What runs while the link is disturbed. */
  interface Step {
    void run() throws Exception;
  }

  void during(Step step) throws Exception {
    run(change);
    try {
      step.run();
    } finally {
      run(undo);
    }
  }

  private static void run(String command) throws Exception {
    try (ChildProcess process = ChildProcess.start(List.of(command.split(" ")))) {
      assertThat(process.await()).isEqualTo(new Outcome(0, List.of(), List.of()));
    }
  }
}
