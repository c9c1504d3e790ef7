package org.rdma4j.samples;

import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.MemoryRegion;

/** What rdma-client and rdma-server exchange: a message of 16 bytes in each direction. */
final class OneMessage implements AutoCloseable {
  private static final int BYTES = 16;

  private final CmOptions options;
  private final SimpleMessages queues;
  private final MemoryRegion outgoing;

  /** With the receive posted, so that the peer may send once it is connected. */
  OneMessage(CmOptions options, SynchronousCmId id) {
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

  /** Says when it begins and how it ends. */
  static int between(CmOptions options, String program, CmOptions.Play play)
      throws InterruptedException {
    options.check();
    int result = -1;
    options.spec.commandLine().getOut().println(program + ": start");
    try {
      play.play();
      result = 0;
    } finally {
      options.spec.commandLine().getOut().println(program + ": end " + result);
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
