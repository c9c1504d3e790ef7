package org.rdma4j.testing;

import java.time.Duration;

/**
 * Disturbs this guest's end of the link between the guests of a pair.
 *
 * @param change the command that disturbs it
 * @param undo the command that ends that
 */
public record DisturbedLink(String change, String undo) {
  private static final String DEVICE = "eth0";

  /** Returns a link that nothing disturbs. */
  public static DisturbedLink undisturbed() {
    return new DisturbedLink("true", "true");
  }

  /** Loses this percentage of the packets that this guest sends. */
  public static DisturbedLink losing(int percent) {
    return disturbed("loss " + percent + "%");
  }

  /** Delays the packets that this guest sends. */
  public static DisturbedLink delaying(Duration delay) {
    return disturbed("delay " + delay.toMillis() + "ms");
  }

  private static DisturbedLink disturbed(String options) {
    return new DisturbedLink(
        "tc qdisc add dev " + DEVICE + " root netem limit 10000 " + options,
        "tc qdisc del dev " + DEVICE + " root");
  }

  /** Returns a link that is down. */
  public static DisturbedLink down() {
    return new DisturbedLink("ip link set " + DEVICE + " down", "ip link set " + DEVICE + " up");
  }

  /** What runs while the link is disturbed. */
  public interface Step {
    /** Runs. */
    void run() throws Exception;
  }

  /** Disturbs the link while a step runs. */
  public void during(Step step) throws Exception {
    run(change);
    try {
      step.run();
    } finally {
      run(undo);
    }
  }

  private static void run(String command) throws Exception {
    String output = Command.output(command.split(" "));
    if (!output.isEmpty()) {
      throw new AssertionError(command + ": " + output);
    }
  }
}
