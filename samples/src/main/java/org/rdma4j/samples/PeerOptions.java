package org.rdma4j.samples;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Where the peer of a program is, over TCP, and how long to wait for it. */
final class PeerOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "the server's name or address (default: be the server)")
  @Nullable String server;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "the TCP port of the server (default: ${DEFAULT-VALUE})")
  int tcpPort;

  @Mixin final Patience patience = new Patience();

  /**
   * The options at their defaults.
   *
   * @param tcpPort the default port
   */
  PeerOptions(int tcpPort) {
    this.tcpPort = tcpPort;
  }

  void check() {
    Options.checkRange(spec, "-p", tcpPort, 1, 65535);
    patience.check();
  }

  Duration timeout() {
    return patience.timeout();
  }
}
