package org.rdma4j.connection;

import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.session.Session;

/**
 * Gets memory for the long messages of one connection, in a thread that may block: registering it
 * takes long, and can fail.
 */
final class MessageMemory {
  private final Link link;
  private final Session session;

  MessageMemory(Link link, Session session) {
    this.link = link;
    this.session = session;
  }

  /** Gets memory, and gives it to the session. */
  void supply(long bytes) {
    link.share().largeBuffers().grant(session.arrivals(), bytes, () -> supplySoon(bytes));
  }

  private void supplySoon(long bytes) {
    // A failure breaks the connection, so no thread waits for this.
    var unused = link.share().node().blocking().run(() -> supplyNow(bytes));
  }

  private void supplyNow(long bytes) {
    Buffer memory;
    try {
      memory = link.share().largeBuffers().takeGranted(session.arrivals(), bytes);
    } catch (RuntimeException | Error failed) {
      // A connection that was closed needs no memory, and its domain may be closed, too.
      if (link.lifetime().isOpen()) {
        link.failed(
            "there is no memory for a message of %d bytes: %s"
                .formatted(bytes, failed.getMessage()),
            failed);
      }
      return;
    }
    boolean used = false;
    link.lock();
    try {
      used = session.supplied(memory);
      link.flush();
    } finally {
      link.unlock();
    }
    if (!used) {
      memory.free();
    }
    link.later(link.telling()::tell);
  }
}
