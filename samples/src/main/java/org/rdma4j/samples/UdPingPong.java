package org.rdma4j.samples;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What ibv_ud_pingpong does, with which it can play. */
@Command(
    description = {
      "Sends a datagram back and forth, as ibv_ud_pingpong does and with it or itself as the peer."
          + " Without a server name it is the server, which is to be started first; both sides take"
          + " the same -p, -s and -n. Nobody sends a lost datagram again: both sides then end at"
          + " their --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class UdPingPong implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(2048);

  @Override
  public void run() {
    PingPongRun.datagrams(options).run();
  }
}
