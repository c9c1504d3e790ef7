package org.rdma4j.tools.pingpong;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Does what ibv_srq_pingpong does, and works with it. */
@Command(
    description = {
      "Sends messages back and forth over several reliable connections that share a receive queue,"
          + " as ibv_srq_pingpong does.",
      "The peer is this program or ibv_srq_pingpong. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -p, -s, -m, -q and"
          + " -n, where -n counts the exchanges of all queue pairs together."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class SrqPingPong implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(4096);

  @Mixin final PathMtu pathMtu = new PathMtu();

  @Option(
      names = {"-q", "--num-qp"},
      paramLabel = "COUNT",
      description = "the number of queue pairs on each side, 1 to 255 (default: ${DEFAULT-VALUE})")
  int queuePairs = 16;

  @Override
  public void run() {
    options.checkRange("-q", queuePairs, 1, PingPongKind.SRQ.addresses() - 1);
    if (queuePairs > options.receiveDepth) {
      throw new ParameterException(
          options.spec.commandLine(),
          "-r is %d, must be at least %d (-q): each queue pair needs a receive"
              .formatted(options.receiveDepth, queuePairs));
    }
    PingPongRun.shared(options, pathMtu, queuePairs).run();
  }
}
