package org.rdma4j.samples;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What ibv_uc_pingpong does, with which it can play. */
@Command(
    description = {
      "Sends a message back and forth over an unreliable connection, as ibv_uc_pingpong does and"
          + " with it or itself as the peer. Without a server name it is the server, which is to be"
          + " started first; both sides take the same -p, -s, -m and -n. Nobody sends a lost message"
          + " again: both sides then end at their --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class UcPingPong implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(4096);

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  PathMtu pathMtu;

  @Override
  public void run() {
    PingPongRun.unreliable(options, pathMtu).run();
  }
}
