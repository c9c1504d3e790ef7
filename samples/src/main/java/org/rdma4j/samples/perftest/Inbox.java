package org.rdma4j.samples.perftest;

import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ReceiveRequests;

/** Builds and posts the receive requests of one queue pair. */
final class Inbox {
  private final ReceiveRequests requests;
  private final long id;
  private final MemoryRegion region;
  private final long base;
  private final long bytes;
  private final long stride;
  private final int places;
  private final int list;
  private long offset;
  private int place;
  private long posted;

  /**
   * Creates the requests.
   *
   * @param link the queue pair
   * @param resources its memory
   * @param settings the test, with the length to test
   */
  Inbox(Link link, Resources resources, Settings settings) {
    id = link.index();
    list = settings.receivePostList();
    requests = link.receiveRequests(list);
    region = resources.memory();
    base = resources.layout().incoming(link.index());
    bytes = settings.transport().headerBytes() + settings.size();
    // The header of a datagram lies at the end of the message before.
    stride = resources.layout().stride(settings.size());
    places = settings.program().isBandwidth() ? resources.layout().places(settings.size()) : 1;
  }

  /** Posts as many receives as are posted at once. */
  void post() {
    for (int i = 0; i < list; i++) {
      requests.add(id).into(region, base + offset, bytes);
      if (++place == places) {
        place = 0;
        offset = 0;
      } else {
        offset += stride;
      }
    }
    requests.post();
    posted += list;
  }

  /** Returns the number of receives that were posted. */
  long posted() {
    return posted;
  }
}
