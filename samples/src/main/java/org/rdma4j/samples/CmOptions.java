package org.rdma4j.samples;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.MessageQueues;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.WorkCompletionException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What the programs of the connection manager have in common on their command lines. */
final class CmOptions {
  private static final int LONGEST_TIMEOUT = 1_000_000;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "how long to wait for the peer, at every step, before giving up (default:"
              + " ${DEFAULT-VALUE})")
  int timeoutSeconds = 60;

  @Option(
      names = "--debug",
      description = "print the stack trace of a failure, not only a line that tells it")
  boolean debug;

  void check() {
    checkRange("--timeout", timeoutSeconds, 1, LONGEST_TIMEOUT);
  }

  void checkRange(String option, int value, int least, int most) {
    Options.checkRange(spec, option, value, least, most);
  }

  Duration timeout() {
    return Duration.ofSeconds(timeoutSeconds);
  }

  /** The address of a host, any of this machine for null. */
  static InetSocketAddress address(@Nullable String host, int port) {
    if (host == null) {
      return new InetSocketAddress(port);
    }
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException unknown) {
      throw new Failure("no host is named \"%s\"".formatted(host), unknown);
    }
  }

  /** One for an address as rdma_getaddrinfo knows it. */
  SynchronousCmId open(String host, String port, AddressHints hints) throws InterruptedException {
    List<AddressInfo> known = AddressInfo.resolve(host, port, hints, timeout());
    return SynchronousCmId.open(known.get(0), timeout());
  }

  /** Waits for a client. */
  SynchronousCmId awaitRequest(SynchronousCmId listener) throws InterruptedException {
    return listener.awaitRequest(timeout()).orElseThrow(this::noClient);
  }

  /** That nobody came in time. */
  Failure noClient() {
    return new Failure(
        "no client came within %d s: start it, or wait longer with --timeout"
            .formatted(timeoutSeconds));
  }

  /** One of the waits of the queues. */
  interface Wait {
    Optional<MessageQueues.Completed> await(Duration timeout) throws InterruptedException;
  }

  /** Waits for that many sends or receives, and tells a failure in words. */
  void await(String what, int count, Wait wait) throws InterruptedException {
    for (int i = 0; i < count; i++) {
      try {
        if (wait.await(timeout()).isEmpty()) {
          throw late("the " + what);
        }
      } catch (WorkCompletionException failed) {
        throw broken("the " + what, failed);
      }
    }
  }

  /** That something did not happen in time. */
  Failure late(String what) {
    return new Failure(
        "%s is not done within %d s: what does the peer do? A slow one needs a longer --timeout"
            .formatted(what, timeoutSeconds));
  }

  /** That a request failed. */
  static Failure broken(String what, WorkCompletionException failed) {
    return new Failure(
        "%s ended in %s: what does the peer print?".formatted(what, failed.status()), failed);
  }
}
