package org.rdma4j.samples;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.WorkCompletionException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What the programs of the connection manager have in common on their command lines. */
final class CmOptions {
  /** How soon it is noticed that a wait is for nothing. */
  private static final Duration LOOK_AROUND = Duration.ofMillis(20);

  private static final Duration LOOK_AGAIN = Duration.ofHours(1);

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final Patience patience = new Patience();

  @Mixin final DebugOption debug = new DebugOption();

  void check() {
    patience.check();
  }

  void checkRange(String option, int value, int min, int max) {
    Options.checkRange(spec, option, value, min, max);
  }

  Duration timeout() {
    return patience.timeout();
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
    return SynchronousCmId.open(resolve(host, port, hints), timeout());
  }

  /** The address to listen on, as rdma_getaddrinfo knows it. */
  AddressInfo local(@Nullable String source, String port, AddressHints hints)
      throws InterruptedException {
    return resolve(source, port, hints.passive(true));
  }

  /** The address of a server, as rdma_getaddrinfo knows it. */
  AddressInfo peer(String host, String port, AddressHints hints, @Nullable String source)
      throws InterruptedException {
    AddressHints all =
        source == null ? hints : hints.source(resolve(source, null, hints.passive(true)).source());
    return resolve(host, port, all);
  }

  static SocketAddress destination(AddressInfo peer) {
    if (peer.destination() == null) {
      throw new Failure("the server has no address");
    }
    return peer.destination();
  }

  private AddressInfo resolve(@Nullable String node, @Nullable String service, AddressHints hints)
      throws InterruptedException {
    return AddressInfo.resolve(node, service, hints, timeout()).get(0);
  }

  /** A wait of at most that long for a client. */
  interface Arrival<C> {
    Optional<C> await(Duration timeout) throws InterruptedException;
  }

  /** Waits for a client, no longer than --timeout says unless that does not matter. */
  <C> C awaitClient(Arrival<C> arrival, boolean forEver) throws InterruptedException {
    while (true) {
      Optional<C> client = arrival.await(forEver ? LOOK_AGAIN : timeout());
      if (client.isPresent()) {
        return client.get();
      }
      if (!forEver) {
        throw noClient();
      }
    }
  }

  /** Tells what went wrong with one client, which concerns no other. */
  void tell(String what, Exception failure) {
    spec.commandLine().getErr().println(what + ": " + Main.message(failure));
  }

  /** That nobody came in time. */
  Failure noClient() {
    return new Failure(
        "no client came within %d s: start it, or wait longer with --timeout"
            .formatted(patience.seconds));
  }

  /** A game. */
  interface Play {
    void play() throws InterruptedException;
  }

  /** A wait of at most that long, for what it says whether it came. */
  interface Wait {
    boolean await(Duration timeout) throws InterruptedException;
  }

  /** Waits for something, and tells a failure in words. */
  void await(String what, Wait wanted) throws InterruptedException {
    await(what, wanted, never -> false);
  }

  /** Waits for one thing, which is true, or another that ends the wait for it, which is false. */
  boolean await(String what, Wait wanted, Wait ended) throws InterruptedException {
    long began = System.nanoTime();
    try {
      while (!wanted.await(LOOK_AROUND)) {
        if (ended.await(Duration.ZERO)) {
          return false;
        }
        if (System.nanoTime() - began > timeout().toNanos()) {
          throw late(what);
        }
      }
      return true;
    } catch (WorkCompletionException failed) {
      throw new Failure(
          "%s ended in %s: what does the peer print?".formatted(what, failed.status()), failed);
    }
  }

  /** That something did not happen in time. */
  Failure late(String what) {
    return new Failure(
        "%s is not done within %d s: what does the peer do? A slow one needs a longer --timeout"
            .formatted(what, patience.seconds));
  }
}
