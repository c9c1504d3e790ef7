package org.rdma4j.tools.pingpong;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Does what ibv_ud_pingpong does, and works with it. */
@Command(
    description = {
      "Sends a datagram back and forth, as ibv_ud_pingpong does.",
      "The peer is this program or ibv_ud_pingpong. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -p, -s and -n. Lost"
          + " datagrams are not sent again: if one is lost, both sides fail after their"
          + " --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class UdPingPong implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(2048);

  @Override
  public void run() {
    PingPongRun.datagrams(options).run();
  }
}
