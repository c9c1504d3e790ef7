package org.rdma4j.connection;

import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.ReceiveQueue;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SharedReceiveQueue;

/** Posts the receives of all connections of a {@link Poller} to their shared receive queue. */
final class SharedReceives implements ReceiveQueue {
  private final SharedReceiveQueue queue;
  private final ReceiveRequests requests;

  /**
   * Creates what posts to a queue.
   *
   * @param chain how many are posted at a time at most
   */
  SharedReceives(SharedReceiveQueue queue, int chain) {
    this.queue = queue;
    this.requests = queue.receiveRequests(chain);
  }

  @Override
  public int depth() {
    return queue.depth();
  }

  @Override
  public void post(Buffer[] buffers, int count) {
    boolean posted = false;
    try {
      for (int i = 0; i < count; i++) {
        Buffer buffer = buffers[i];
        requests
            .add(WorkRequestId.ofReceive(buffer))
            .into(
                BufferRegion.of(buffer), buffer.header(), MessageHeader.BYTES + buffer.capacity());
      }
      requests.post();
      posted = true;
    } finally {
      if (!posted) {
        requests.clear();
      }
      requests.release();
    }
  }
}
