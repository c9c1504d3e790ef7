package org.rdma4j.tools.cm;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.tools.command.Failure;

/** Looks up addresses with rdma_getaddrinfo, as the programs in C do. */
final class AddressLookup {
  private AddressLookup() {}

  /** Returns the address to listen on; without a source, any address of this machine. */
  static AddressInfo local(
      @Nullable String source, String port, AddressHints hints, Duration timeout)
      throws InterruptedException {
    return first(source, port, hints.passive(true), timeout);
  }

  /** Returns the address of a server; without a source, the system chooses the local address. */
  static AddressInfo server(
      String host, String port, AddressHints hints, @Nullable String source, Duration timeout)
      throws InterruptedException {
    AddressHints all =
        source == null
            ? hints
            : hints.source(first(source, null, hints.passive(true), timeout).source());
    return first(host, port, all, timeout);
  }

  /** Returns the address of the server itself. */
  static SocketAddress destination(AddressInfo server) {
    if (server.destination() == null) {
      throw new Failure("the lookup returned no address for the server; give another -s");
    }
    return server.destination();
  }

  static AddressInfo first(
      @Nullable String node, @Nullable String service, AddressHints hints, Duration timeout)
      throws InterruptedException {
    try {
      return AddressInfo.resolve(node, service, hints, timeout).get(0);
    } catch (TimeoutException late) {
      throw new Failure(Failure.describe(late), late);
    }
  }
}
