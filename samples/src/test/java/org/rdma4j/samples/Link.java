package org.rdma4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;

/** A disturbance of this guest's end of the link of a pair. */
record Link(String change, String undo) {
  private static final String DEVICE = "eth0";

  static Link undisturbed() {
    return new Link("true", "true");
  }

  /** What this guest sends is lost, so many packets of a hundred. */
  static Link losing(int percent) {
    return disturbed("loss " + percent + "%");
  }

  /** What this guest sends is late. */
  static Link delaying(Duration delay) {
    return disturbed("delay " + delay.toMillis() + "ms");
  }

  private static Link disturbed(String how) {
    return new Link(
        "tc qdisc add dev " + DEVICE + " root netem limit 10000 " + how,
        "tc qdisc del dev " + DEVICE + " root");
  }

  static Link down() {
    return new Link("ip link set " + DEVICE + " down", "ip link set " + DEVICE + " up");
  }

  /** What is done meanwhile. */
  interface Step {
    void take() throws Exception;
  }

  void during(Step step) throws Exception {
    run(change);
    try {
      step.take();
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
