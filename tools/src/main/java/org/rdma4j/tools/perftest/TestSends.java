package org.rdma4j.tools.perftest;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.SendRequests;

/**
 * Builds the send requests of one queue pair once, and posts them. This is the only place that does
 * so; every loop adds its messages here.
 */
final class TestSends {
  private static final long ADDEND = 1;

  private enum Operation {
    SEND,
    DATAGRAM,
    WRITE,
    READ,
    FETCH_AND_ADD,
    COMPARE_AND_SWAP;

    boolean isOneSided() {
      return this != SEND && this != DATAGRAM;
    }
  }

  private final SendRequests requests;
  private final int max;
  private final TestLink link;
  private final long id;
  private final Operation operation;
  private final MemoryRegion region;
  private final boolean inline;
  private final boolean fetches;
  private final long size;
  private final long localBase;
  private final long remoteBase;
  private final int remoteKey;
  private final long stride;
  private final int places;

  /** All requests, which differ only in their places and signals; null before the first one. */
  private @Nullable PreparedSends sends;

  private int added;
  private long offset;
  private int place;

  /**
   * Creates the requests.
   *
   * @param link the queue pair
   * @param resources its memory
   * @param settings the test, with the length to test
   * @param max the maximum number of messages that are added before a post
   */
  TestSends(TestLink link, Resources resources, Settings settings, int max) {
    this.link = link;
    id = link.index();
    this.max = max;
    requests = link.sendRequests(max);
    operation = operation(settings);
    region = resources.memory();
    size = settings.size();
    fetches = settings.program().verb().fetches();
    inline = !fetches && size <= resources.inlineBytes();
    localBase = resources.layout().outgoing(link.index());
    remoteBase = link.remote().remoteAddress();
    remoteKey = link.remote().remoteKey();
    stride = resources.layout().stride(size);
    places = settings.program().isBandwidth() ? resources.layout().places(size) : 1;
  }

  private static Operation operation(Settings settings) {
    return switch (settings.program().verb()) {
      case SEND -> settings.transport() == Transport.UD ? Operation.DATAGRAM : Operation.SEND;
      case WRITE -> Operation.WRITE;
      case READ -> Operation.READ;
      case ATOMIC ->
          settings.compareAndSwap() ? Operation.COMPARE_AND_SWAP : Operation.FETCH_AND_ADD;
    };
  }

  /** Returns the offset of the next message. */
  long nextOffset() {
    return localBase + offset;
  }

  /** Adds the next message. */
  void add(boolean signaled) {
    PreparedSends prepared = sends;
    if (prepared == null) {
      prepared = prepare();
      sends = prepared;
    }
    prepared.signaled(added, signaled);
    if (places > 1) {
      prepared.offset(added, localBase + offset);
      if (operation.isOneSided()) {
        prepared.remoteOffset(added, offset);
      }
    }
    added++;
    if (++place == places) {
      place = 0;
      offset = 0;
    } else {
      offset += stride;
    }
  }

  private PreparedSends prepare() {
    for (int i = 0; i < max; i++) {
      build(requests.add(id));
    }
    PreparedSends prepared = requests.prepare();
    if (operation.isOneSided()) {
      for (int i = 0; i < max; i++) {
        prepared.remoteBytes(i, (places - 1) * stride + size);
      }
    }
    return prepared;
  }

  private void build(SendRequests request) {
    switch (operation) {
      case SEND -> {}
      case DATAGRAM ->
          request.to(
              Objects.requireNonNull(link.handle()), link.remoteNumber(), link.remoteQueueKey());
      case WRITE -> request.write(remoteBase, remoteKey);
      case READ -> request.read(remoteBase, remoteKey);
      case FETCH_AND_ADD -> request.fetchAndAdd(remoteBase, remoteKey, ADDEND);
      case COMPARE_AND_SWAP -> request.compareAndSwap(remoteBase, remoteKey, 0, 0);
    }
    if (fetches) {
      request.into(region, localBase, size);
    } else if (inline) {
      request.inline(region, localBase, size);
    } else {
      request.from(region, localBase, size);
    }
  }

  /** Posts what was added. */
  void post() {
    PreparedSends prepared = sends;
    if (prepared != null) {
      prepared.post(0, added);
      added = 0;
    }
  }
}
