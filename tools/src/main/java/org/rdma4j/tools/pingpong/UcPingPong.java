package org.rdma4j.tools.pingpong;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Does what ibv_uc_pingpong does, and works with it. */
@Command(
    description = {
      "Sends a message back and forth over an unreliable connection, as ibv_uc_pingpong does.",
      "The peer is this program or ibv_uc_pingpong. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -p, -s, -m and -n."
          + " Lost messages are not sent again: if one is lost, both sides fail after their"
          + " --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class UcPingPong implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(4096);

  @Mixin final PathMtu pathMtu = new PathMtu();

  @Override
  public void run() {
    PingPongRun.unreliable(options, pathMtu).run();
  }
}
