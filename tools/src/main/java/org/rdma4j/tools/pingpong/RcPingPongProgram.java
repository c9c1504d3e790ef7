package org.rdma4j.tools.pingpong;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Does what ibv_rc_pingpong does, and works with it. */
@Command(
    description = {
      "Sends a message back and forth over a reliable connection, as ibv_rc_pingpong does.",
      "The peer is this program or ibv_rc_pingpong. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -p, -s, -m and -n."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class RcPingPongProgram implements Runnable {
  @Mixin final PingPongOptions options = new PingPongOptions(4096);

  @Mixin final PathMtu pathMtu = new PathMtu();

  @Option(
      names = {"-N", "--new_send"},
      description = "post with ibv_wr_* (default: with ibv_post_send)")
  boolean extended;

  @Option(
      names = {"-o", "--odp"},
      description = "use on-demand paging for the memory, if the device supports it")
  boolean onDemand;

  @Option(
      names = {"-t", "--ts"},
      description =
          "record when the device completes each receive, if it supports that, and print the"
              + " maximum, minimum and average number of its clock ticks between two receives")
  boolean timestamps;

  @Override
  public void run() {
    PingPongRun.reliable(options, pathMtu, new Features(extended, onDemand, timestamps)).run();
  }
}
