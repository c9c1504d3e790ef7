package org.rdma4j.tools.cm;

import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.verbs.MemoryRegion;

/** The messages of rdma-client and rdma-server: one of 16 bytes in each direction. */
final class OneMessage implements AutoCloseable {
  private static final int BYTES = 16;

  private final CommonOptions options;
  private final SimpleMessages queues;
  private final MemoryRegion outgoing;

  /** Posts the receive, so that the peer may send once it is connected. */
  OneMessage(CommonOptions options, SynchronousCmId id) {
    this.options = options;
    queues = SimpleMessages.create(id.id(), 1, 1);
    try {
      outgoing = queues.registerMessages(BYTES);
      queues.postReceive(0, queues.registerMessages(BYTES).slice(0, BYTES));
    } catch (RuntimeException failed) {
      queues.close();
      throw failed;
    }
  }

  /** Opens an identifier for an address, as rdma_getaddrinfo resolves it. */
  static SynchronousCmId open(CommonOptions options, String host, String port, AddressHints hints)
      throws InterruptedException, TimeoutException {
    return SynchronousCmId.open(
        AddressLookup.first(host, port, hints, options.timeout()), options.timeout());
  }

  /** Runs an exchange and prints when it starts and how it ends, as C does. */
  static int run(CommonOptions options, String program, Exchange exchange)
      throws InterruptedException, TimeoutException {
    options.check();
    int result = -1;
    options.out().println(program + ": start");
    try {
      exchange.run();
      result = 0;
    } finally {
      options.out().println(program + ": end " + result);
    }
    return result;
  }

  void send() throws InterruptedException {
    queues.postSend(0, outgoing.slice(0, BYTES));
    options.await("the send", timeout -> queues.awaitSend(timeout).isPresent());
  }

  void receive() throws InterruptedException {
    options.await("the receive", timeout -> queues.awaitReceive(timeout).isPresent());
  }

  @Override
  public void close() {
    queues.close();
  }
}
