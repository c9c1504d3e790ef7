package org.rdma4j.tools.command;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The peer of a program that finds it over TCP, and how long to wait for it. */
public final class PeerOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "the server's name or address; without it, this program is the server")
  private @Nullable String server;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "the server's TCP port (default: ${DEFAULT-VALUE})")
  private int tcpPort;

  @Mixin final TimeoutOption timeout = new TimeoutOption();

  /**
   * Creates the options with their defaults.
   *
   * @param tcpPort the default port
   */
  public PeerOptions(int tcpPort) {
    this.tcpPort = tcpPort;
  }

  /** Checks the ranges of the options. */
  public void check() {
    OptionRange.check(spec, "-p", tcpPort, 1, 65535);
    timeout.check();
  }

  /**
   * Returns the server.
   *
   * @return its name or address, or null if this program is the server
   */
  public @Nullable String server() {
    return server;
  }

  /**
   * Returns whether this program is the server.
   *
   * @return whether no server was named
   */
  public boolean isServer() {
    return server == null;
  }

  /**
   * Returns the server's port.
   *
   * @return the TCP port
   */
  public int tcpPort() {
    return tcpPort;
  }

  /**
   * Returns how long to wait for the peer.
   *
   * @return the longest time that one step may take
   */
  public Duration timeout() {
    return timeout.timeout();
  }
}
