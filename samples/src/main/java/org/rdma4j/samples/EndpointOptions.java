package org.rdma4j.samples;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.endpoint.Completion;
import org.rdma4j.endpoint.Endpoint;
import org.rdma4j.endpoint.EndpointConfig;
import org.rdma4j.endpoint.EndpointListener;
import org.rdma4j.verbs.WorkCompletionException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of the programs that are written with endpoints, and how these find each other. */
final class EndpointOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final PeerOptions peer = new PeerOptions(7471);

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Options options;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: the first active one)")
  @Nullable Integer port;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      description = "the local GID, by its index in the port's table (default: one that will do)")
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
    Options.checkRange(spec, option, value, min, max);
  }

  /** Waits for the peer or goes to it. */
  Endpoint open(EndpointConfig defaults) {
    EndpointConfig config = defaults;
    config = options.device == null ? config : config.device(options.device);
    config = port == null ? config : config.port(port);
    config = gidIndex == null ? config : config.gidIndex(gidIndex);
    try {
      return peer.server == null ? accept(config) : connect(peer.server, config);
    } catch (SocketTimeoutException late) {
      throw new Failure(late.getMessage() + ": start it, or wait longer with --timeout", late);
    } catch (IOException failed) {
      throw new Failure(String.valueOf(failed.getMessage()), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while it waited for the peer", interrupted);
    }
  }

  private Endpoint accept(EndpointConfig config) throws IOException, InterruptedException {
    try (EndpointListener listener = Endpoint.listen(new InetSocketAddress(peer.tcpPort), config)) {
      return listener.accept(peer.timeout());
    }
  }

  private Endpoint connect(String host, EndpointConfig config) throws IOException {
    InetSocketAddress address = new InetSocketAddress(host, peer.tcpPort);
    if (address.isUnresolved()) {
      throw new Failure("no host is named \"%s\"".formatted(host));
    }
    return Endpoint.connect(address, config, peer.timeout());
  }

  /** Waits for a request, and tells a failure in words. */
  Completion await(Endpoint endpoint, long id, String what) {
    try {
      return endpoint.await(id, peer.timeout());
    } catch (TimeoutException late) {
      throw new Failure(
          "%s is not done within %d s: what does the peer do? A slow one needs a longer --timeout"
              .formatted(what, peer.patience.seconds),
          late);
    } catch (WorkCompletionException failed) {
      throw new Failure(
          "%s ended in %s: what does the peer print?".formatted(what, failed.status()), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while it waited for " + what, interrupted);
    }
  }
}
