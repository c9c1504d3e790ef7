package org.rdma4j.tools.perftest;

import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.ReceiveRequests;

/** Builds the receive requests of one queue pair once, and posts them. */
final class TestReceives {
  private final PreparedReceives receives;
  private final long base;
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
  TestReceives(TestLink link, Resources resources, Settings settings) {
    list = settings.receivePostList();
    base = resources.layout().incoming(link.index());
    long bytes = settings.transport().headerBytes() + settings.size();
    ReceiveRequests requests = link.receiveRequests(list);
    for (int i = 0; i < list; i++) {
      requests.add(link.index()).into(resources.memory(), base, bytes);
    }
    receives = requests.prepare();
    // The header of a datagram lies at the end of the message before.
    stride = resources.layout().stride(settings.size());
    places = settings.program().isBandwidth() ? resources.layout().places(settings.size()) : 1;
  }

  /** Posts as many receives as a call posts. */
  void post() {
    for (int i = 0; places > 1 && i < list; i++) {
      receives.offset(i, base + offset);
      if (++place == places) {
        place = 0;
        offset = 0;
      } else {
        offset += stride;
      }
    }
    receives.post();
    posted += list;
  }

  /** Returns the number of receives that were posted. */
  long posted() {
    return posted;
  }
}
