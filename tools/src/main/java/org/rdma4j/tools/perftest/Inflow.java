package org.rdma4j.tools.perftest;

import org.rdma4j.tools.command.Failure;

/** The receives of one queue pair in a bandwidth test. */
final class Inflow {
  private final TestReceives inbox;
  private final long iterations;
  private final long expectedBytes;
  private final long size;
  private final int list;
  private int unposted;

  /** Posts the first receives. */
  Inflow(TestLink link, Resources resources, Settings settings) {
    inbox = new TestReceives(link, resources, settings);
    iterations = settings.iterations();
    size = settings.size();
    expectedBytes = settings.transport().headerBytes() + size;
    list = settings.receivePostList();
    for (int i = 0; i < settings.receiveDepth() / list; i++) {
      inbox.post();
    }
  }

  /** Records that a message has arrived, and posts receives if they are needed and due. */
  void complete(long bytes) {
    if (bytes != expectedBytes) {
      throw wrongSize(bytes);
    }
    if (++unposted >= list && inbox.posted() + list <= iterations) {
      unposted -= list;
      inbox.post();
    }
  }

  private Failure wrongSize(long bytes) {
    return new Failure(
        "the peer sends messages of %d bytes, this side has -s %d; give both sides the same -s"
            .formatted(bytes - expectedBytes + size, size));
  }
}
