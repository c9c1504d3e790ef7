package org.rdma4j.samples;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What ibv_rc_pingpong does, with which it can play. */
@Command(
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

  @Option(
      names = {"-N", "--new_send"},
      description = "post by ibv_wr_* (default: by ibv_post_send)")
  boolean extended;

  @Option(
      names = {"-o", "--odp"},
      description = "have the device page the memory in on demand, where it can")
  boolean onDemand;

  @Option(
      names = {"-t", "--ts"},
      description =
          "have the device time the receives, where it can, and print maximum, minimum and average"
              + " of the ticks of its clock between two of them")
  boolean timestamps;

  @Override
  public void run() {
    PingPongRun.reliable(options, pathMtu, new Features(extended, onDemand, timestamps)).run();
  }
}
