package org.rdma4j.tools.pingpong;

import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.OptionRange;
import org.rdma4j.tools.command.PeerOptions;
import org.rdma4j.tools.command.PortOptions;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of all ping-pong programs. */
final class PingPongOptions {
  private static final int MAX_DEPTH = 1 << 24;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final PeerOptions peer = new PeerOptions(18515);

  @Mixin final PortOptions port = new PortOptions();

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "the length of a message (default: ${DEFAULT-VALUE})")
  int size;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "COUNT",
      description = "the number of receives to keep posted (default: ${DEFAULT-VALUE})")
  int receiveDepth = 500;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "the number of exchanges to measure (default: ${DEFAULT-VALUE})")
  int iterations = 1000;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "LEVEL",
      description = "the service level, 0 to 15 (default: ${DEFAULT-VALUE})")
  int serviceLevel;

  @Option(
      names = {"-e", "--events"},
      description = "sleep until a request completes (default: poll)")
  boolean events;

  @Option(
      names = {"-c", "--chk"},
      description = "check every byte of every message; give this option to both sides")
  boolean validate;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "the number of exchanges to make before the measured ones; give the same number to both"
              + " sides, or add it to the -n of a peer in C (default: ${DEFAULT-VALUE})")
  int warmup;

  @Option(
      names = "--rounds",
      paramLabel = "COUNT",
      description =
          "how many times to make and report the -n exchanges; give the same number to both sides."
              + " Before each round except the first, the client waits for a line on its"
              + " standard input, or for its end (default: ${DEFAULT-VALUE})")
  int rounds = 1;

  @Option(
      names = "--latency",
      description =
          "measure the round-trip time of each exchange, and print the minimum, median, 99th"
              + " percentile and maximum in microseconds (client only)")
  boolean latency;

  @Option(
      names = "--progress",
      description = "print the progress to standard error even if that is not a terminal")
  boolean progress;

  /**
   * Creates the options with their defaults.
   *
   * @param size the default length of a message in bytes
   */
  PingPongOptions(int size) {
    this.size = size;
  }

  void check() {
    peer.check();
    port.check();
    checkRange("-s", size, 1, Integer.MAX_VALUE);
    checkRange("-r", receiveDepth, 1, MAX_DEPTH);
    checkRange("-n", iterations, 1, Integer.MAX_VALUE);
    checkRange("-l", serviceLevel, 0, 15);
    checkRange("--warmup", warmup, 0, Integer.MAX_VALUE);
    checkRange("--rounds", rounds, 1, Integer.MAX_VALUE);
    if (latency && peer.isServer()) {
      throw new ParameterException(
          spec.commandLine(), "--latency requires a server name: only the client measures it");
    }
  }

  /** Returns the number of measured iterations of all rounds together. */
  long measuredIterations() {
    return (long) rounds * iterations;
  }

  void checkRange(String option, int value, int min, int max) {
    OptionRange.check(spec, option, value, min, max);
  }

  /** Checks what would otherwise fail later with a less helpful message. */
  void checkDevice(RdmaDevice device) {
    port.checkDevice(device);
    long max = device.port(port.number()).attributes().maxMessageSize();
    if (size > max) {
      throw new Failure(
          "-s is %d, must be at most %d, the maximum message size of %s"
              .formatted(size, max, device.info().name()));
    }
  }
}
