package org.rdma4j.samples.perftest;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/**
 * Builds and posts the send requests of one queue pair. This is the only place that does so; every
 * loop adds its messages here.
 */
final class Outbox {
  private static final long ADDEND = 1;

  private enum Operation {
    SEND,
    DATAGRAM,
    WRITE,
    READ,
    FETCH_AND_ADD,
    COMPARE_AND_SWAP
  }

  private final SendRequests requests;
  private final Link link;
  private final long id;
  private final Operation operation;
  private final MemoryRegion region;
  private final MemorySegment memory;
  private final boolean inline;
  private final boolean fetches;
  private final long size;
  private final long localBase;
  private final long remoteBase;
  private final int remoteKey;
  private final long stride;
  private final int places;
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
  Outbox(Link link, Resources resources, Settings settings, int max) {
    this.link = link;
    id = link.index();
    requests = link.sendRequests(max);
    operation = operation(settings);
    region = resources.memory();
    memory = region.segment();
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
    SendRequests request = requests.add(id);
    long remote = remoteBase + offset;
    switch (operation) {
      case SEND -> {}
      case DATAGRAM ->
          request.to(
              Objects.requireNonNull(link.handle()), link.remoteNumber(), link.remoteQueueKey());
      case WRITE -> request.write(remote, remoteKey);
      case READ -> request.read(remote, remoteKey);
      case FETCH_AND_ADD -> request.fetchAndAdd(remote, remoteKey, ADDEND);
      case COMPARE_AND_SWAP -> request.compareAndSwap(remote, remoteKey, 0, 0);
    }
    long local = localBase + offset;
    if (fetches) {
      request.into(region, local, size);
    } else if (inline) {
      request.inline(memory, local, size);
    } else {
      request.from(region, local, size);
    }
    if (signaled) {
      request.signaled();
    }
    if (++place == places) {
      place = 0;
      offset = 0;
    } else {
      offset += stride;
    }
  }

  /** Posts what was added. */
  void post() {
    requests.post();
  }
}
