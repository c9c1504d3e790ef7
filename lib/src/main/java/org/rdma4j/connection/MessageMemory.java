package org.rdma4j.connection;

import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.LargeBuffers;
import org.rdma4j.connection.session.MemoryNeed;
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
  void supply(MemoryNeed need) {
    Buffer buffer = need.buffer();
    if (buffer == null) {
      LargeBuffers buffers = link.share().largeBuffers();
      buffers.grant(session.arrivals(), need.total(), () -> soon(() -> supplyNow(need)));
    } else {
      soon(() -> registerNow(buffer, need));
    }
  }

  private void soon(Runnable action) {
    // A failure breaks the connection, so no thread waits for this.
    var unused = link.share().node().blocking().run(action);
  }

  private void supplyNow(MemoryNeed need) {
    Buffer memory;
    try {
      memory =
          link.share().largeBuffers().takeGranted(session.arrivals(), need.total(), need.first());
    } catch (RuntimeException | Error failed) {
      failed(need, failed);
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

  private void registerNow(Buffer buffer, MemoryNeed need) {
    try {
      link.share().largeBuffers().register(buffer, need.first());
    } catch (RuntimeException | Error failed) {
      failed(need, failed);
      return;
    }
    link.lock();
    try {
      session.registered();
      link.flush();
    } finally {
      link.unlock();
    }
    link.later(link.telling()::tell);
  }

  private void failed(MemoryNeed need, Throwable failed) {
    // A connection that was closed needs no memory, and its domain may be closed, too.
    if (link.lifetime().isOpen()) {
      link.failed(
          "there is no memory for a message of %d bytes: %s"
              .formatted(need.total(), failed.getMessage()),
          failed);
    }
  }
}
