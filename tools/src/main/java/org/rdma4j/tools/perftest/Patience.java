package org.rdma4j.tools.perftest;

import java.time.Duration;

/** How long a side waits for the other. */
final class Patience {
  /**
   * The wait of a side that does not notice how the test proceeds: the server of a test that reads
   * or writes its memory. It ends immediately if the peer closes its connection.
   */
  static final Duration WHOLE_TEST = Duration.ofDays(7);

  private Patience() {}
}
