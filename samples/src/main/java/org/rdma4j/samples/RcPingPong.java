package org.rdma4j.samples;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What ibv_rc_pingpong does, with which it can play. */
@Command(
    name = "rc-pingpong",
    description = {
      "Sends a message back and forth over a reliable connection, as ibv_rc_pingpong does and with"
          + " it or itself as the peer. Without a server name it is the server, which is to be"
          + " started first; both sides take the same -p, -s, -m and -n."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class RcPingPong implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(4096);

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  PathMtu pathMtu;

  @Override
  public void run() {
    PingPongRun.connected(PingPongKind.RC, options, pathMtu).run();
  }
}
