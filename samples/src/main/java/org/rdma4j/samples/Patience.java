package org.rdma4j.samples;

import java.time.Duration;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How long a program waits for its peer. */
final class Patience {
  private static final int LONGEST = 1_000_000;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "how long to wait for the peer, at every step, before giving up (default:"
              + " ${DEFAULT-VALUE})")
  int seconds = 60;

  void check() {
    Options.checkRange(spec, "--timeout", seconds, 1, LONGEST);
  }

  Duration timeout() {
    return Duration.ofSeconds(seconds);
  }
}
