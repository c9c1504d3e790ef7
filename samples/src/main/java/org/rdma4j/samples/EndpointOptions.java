package org.rdma4j.samples;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
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
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The options of the programs that are written with endpoints, and how these find each other. */
final class EndpointOptions {
  private static final int LONGEST_TIMEOUT = 1_000_000;

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
  int tcpPort = 7471;

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

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "how long to wait for the peer, at every step, before giving up (default:"
              + " ${DEFAULT-VALUE})")
  int timeoutSeconds = 60;

  void check() {
    checkRange("-p", tcpPort, 1, 65535);
    if (port != null) {
      checkRange("-i", port, 1, 255);
    }
    if (gidIndex != null) {
      checkRange("-g", gidIndex, 0, 255);
    }
    checkRange("--timeout", timeoutSeconds, 1, LONGEST_TIMEOUT);
  }

  void checkRange(String option, int value, int least, int most) {
    Options.checkRange(spec, option, value, least, most);
  }

  Duration timeout() {
    return Duration.ofSeconds(timeoutSeconds);
  }

  /** Waits for the peer or goes to it. */
  Endpoint open(EndpointConfig defaults) {
    EndpointConfig config = defaults;
    config = options.device == null ? config : config.device(options.device);
    config = port == null ? config : config.port(port);
    config = gidIndex == null ? config : config.gidIndex(gidIndex);
    try {
      return server == null ? accept(config) : connect(server, config);
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
    try (EndpointListener listener = Endpoint.listen(new InetSocketAddress(tcpPort), config)) {
      return listener.accept(timeout());
    }
  }

  private Endpoint connect(String host, EndpointConfig config) throws IOException {
    InetSocketAddress address = new InetSocketAddress(host, tcpPort);
    if (address.isUnresolved()) {
      throw new Failure("no host is named \"%s\"".formatted(host));
    }
    return Endpoint.connect(address, config, timeout());
  }

  /** Waits for a request, and tells a failure in words. */
  Completion await(Endpoint endpoint, long id, String what) {
    try {
      return endpoint.await(id, timeout());
    } catch (TimeoutException late) {
      throw new Failure(
          "%s is not done within %d s: what does the peer do? A slow one needs a longer --timeout"
              .formatted(what, timeoutSeconds),
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
