package org.rdma4j.samples.messages;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.endpoint.Endpoint;
import org.rdma4j.endpoint.EndpointConfig;
import org.rdma4j.endpoint.EndpointListener;
import org.rdma4j.samples.command.CommonOptions;
import org.rdma4j.samples.command.DeviceOptions;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.OptionRange;
import org.rdma4j.samples.command.PeerOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of the programs that use endpoints, and how these connect. */
final class EndpointOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final PeerOptions peer = new PeerOptions(7471);

  @Mixin final DeviceOptions device = new DeviceOptions();

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: the first active one)")
  @Nullable Integer port;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      description = "the index of the local GID in the port's table (default: a suitable one)")
  @Nullable Integer gidIndex;

  void check() {
    peer.check();
    if (port != null) {
      checkRange("-i", port, 1, 255);
    }
    if (gidIndex != null) {
      checkRange("-g", gidIndex, 0, 255);
    }
  }

  void checkRange(String option, int value, int min, int max) {
    OptionRange.check(spec, option, value, min, max);
  }

  /** Waits for the client, or connects to the server. */
  Endpoint open(EndpointConfig defaults) {
    // Without this check, a listener would wait for a client that it cannot serve.
    device.selected();
    EndpointConfig config = defaults;
    config = device.device() == null ? config : config.device(device.device());
    config = port == null ? config : config.port(port);
    config = gidIndex == null ? config : config.gidIndex(gidIndex);
    try {
      return peer.server() == null ? accept(config) : connect(peer.server(), config);
    } catch (SocketTimeoutException late) {
      throw new Failure(
          late.getMessage() + "; start the other side, or wait longer with --timeout", late);
    } catch (IOException failed) {
      throw new Failure(String.valueOf(failed.getMessage()), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while waiting for the peer", interrupted);
    }
  }

  private Endpoint accept(EndpointConfig config) throws IOException, InterruptedException {
    try (EndpointListener listener =
        Endpoint.listen(new InetSocketAddress(peer.tcpPort()), config)) {
      return listener.accept(peer.timeout());
    }
  }

  private Endpoint connect(String host, EndpointConfig config) throws IOException {
    InetSocketAddress address = CommonOptions.address(host, peer.tcpPort());
    return Endpoint.connect(address, config, peer.timeout());
  }
}
