package org.rdma4j.tools.command;

import java.time.Duration;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option {@code --timeout}: how long a program waits for its peer. */
public final class TimeoutOption {
  private static final int MAX_SECONDS = 1_000_000;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "the longest time to wait for the peer at each step (default: ${DEFAULT-VALUE})")
  private int seconds = 60;

  /** Checks the range of the option. */
  public void check() {
    OptionRange.check(spec, "--timeout", seconds, 1, MAX_SECONDS);
  }

  /**
   * Returns the timeout.
   *
   * @return the longest time that one step may take
   */
  public Duration timeout() {
    return Duration.ofSeconds(seconds);
  }

  /**
   * Returns the timeout as a number, for messages.
   *
   * @return the timeout in seconds
   */
  public int seconds() {
    return seconds;
  }
}
