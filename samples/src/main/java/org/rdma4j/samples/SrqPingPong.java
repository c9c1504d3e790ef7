package org.rdma4j.samples;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What ibv_srq_pingpong does, with which it can play. */
@Command(
    description = {
      "Sends messages back and forth over several reliable connections that share one receive queue,"
          + " as ibv_srq_pingpong does and with it or itself as the peer. Without a server name it is"
          + " the server, which is to be started first; both sides take the same -p, -s, -m, -q and"
          + " -n, which counts the exchanges of all queue pairs together."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class SrqPingPong implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(4096);

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  PathMtu pathMtu;

  @Option(
      names = {"-q", "--num-qp"},
      paramLabel = "COUNT",
      description = "how many queue pairs each side has, 1 to 255 (default: ${DEFAULT-VALUE})")
  int queuePairs = 16;

  @Override
  public void run() {
    options.checkRange("-q", queuePairs, 1, PingPongKind.SRQ.addresses() - 1);
    if (queuePairs > options.receiveDepth) {
      throw new ParameterException(
          options.spec.commandLine(),
          "-r %d is too few for -q %d: each queue pair needs one receive"
              .formatted(options.receiveDepth, queuePairs));
    }
    PingPongRun.shared(options, pathMtu, queuePairs).run();
  }
}
