package org.rdma4j.samples;

import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What the programs of the ping-pong family have in common on their command lines. */
final class PingPongOptions {
  private static final int LARGEST_DEPTH = 1 << 24;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final PeerOptions peer = new PeerOptions(18515);

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  PortOptions port;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "the length of a message (default: ${DEFAULT-VALUE})")
  int size;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "COUNT",
      description = "how many receives are posted at a time (default: ${DEFAULT-VALUE})")
  int receiveDepth = 500;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "how many exchanges are measured (default: ${DEFAULT-VALUE})")
  int iterations = 1000;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "LEVEL",
      description = "the service level, 0 to 15 (default: ${DEFAULT-VALUE})")
  int serviceLevel;

  @Option(
      names = {"-e", "--events"},
      description = "sleep until something completes (default: poll)")
  boolean events;

  @Option(
      names = {"-c", "--chk"},
      description = "look at each byte of each message that arrives; give it to both sides")
  boolean validate;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "exchanges before those that are measured; give it to both sides, to a peer in C as a"
              + " part of its -n (default: ${DEFAULT-VALUE})")
  int warmup;

  @Option(
      names = "--rounds",
      paramLabel = "COUNT",
      description =
          "how often the -n exchanges are played and reported; give it to both sides. Before each"
              + " round but the first the client waits for a line on its standard input, as long as"
              + " there is any (default: ${DEFAULT-VALUE})")
  int rounds = 1;

  @Option(
      names = "--latency",
      description =
          "time each exchange, there and back, and print minimum, median, 99th percentile and"
              + " maximum in microseconds (client only)")
  boolean latency;

  @Option(
      names = "--progress",
      description = "tell on standard error how far it is, also where that is no terminal")
  boolean progress;

  /**
   * The options at their defaults.
   *
   * @param size the default length of a message
   */
  PingPongOptions(int size) {
    this.size = size;
  }

  void check() {
    peer.check();
    port.check();
    checkRange("-s", size, 1, Integer.MAX_VALUE);
    checkRange("-r", receiveDepth, 1, LARGEST_DEPTH);
    checkRange("-n", iterations, 1, Integer.MAX_VALUE);
    checkRange("-l", serviceLevel, 0, 15);
    checkRange("--warmup", warmup, 0, Integer.MAX_VALUE);
    checkRange("--rounds", rounds, 1, Integer.MAX_VALUE);
    if (latency && peer.server == null) {
      throw new ParameterException(
          spec.commandLine(), "--latency is for the client: give it a server name");
    }
  }

  /** Of all rounds. */
  long measuredIterations() {
    return (long) rounds * iterations;
  }

  void checkRange(String option, int value, int min, int max) {
    Options.checkRange(spec, option, value, min, max);
  }

  /** What would otherwise fail later, where it is harder to tell why, or after a long wait. */
  void checkDevice(RdmaDevice device) {
    port.checkDevice(device);
    long longest = device.port(port.number).maxMessageSize();
    if (size > longest) {
      throw new Failure(
          "-s %d: a message of %s has at most %d bytes"
              .formatted(size, device.info().name(), longest));
    }
  }
}
