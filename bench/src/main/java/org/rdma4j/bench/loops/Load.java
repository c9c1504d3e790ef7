package org.rdma4j.bench.loops;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.bench.standin.CallStyle;
import org.rdma4j.bench.standin.Queues;
import org.rdma4j.bench.standin.StandIn;

/**
 * A load on a device: each but {@link #BASE} increases one thing that a program may have many of.
 */
public enum Load {
  /** The smallest load: one queue pair and one small region. */
  BASE("base", 16, 4096, 1, 1),
  /** 32 queue pairs on one completion queue, used in turn. */
  QUEUE_PAIRS_32("32 queue pairs", 16, 4096, 32, 1),
  /** 1024 queue pairs on one completion queue, used in turn. */
  QUEUE_PAIRS_1024("1024 queue pairs", 16, 4096, 1024, 1),
  /** A full queue: each poll takes the completion of the request posted 1023 requests earlier. */
  DEPTH_1024("depth 1024", 1024, 4096, 1, 1),
  /** A full queue: each poll takes the completion of the request posted 16383 requests earlier. */
  DEPTH_16384("depth 16384", 16384, 4096, 1, 1),
  /** A region of 1 MiB, sent one piece after another. */
  MEMORY_1_MIB("1 MiB registered", 16, 1L << 20, 1, 1),
  /** A region of 4 GiB, sent one piece after another. */
  MEMORY_4_GIB("4 GiB registered", 16, 4L << 30, 1, 1),
  /** 1000 open regions, used in turn. */
  REGIONS_1000("1000 regions", 16, 4096, 1, 1000),
  /** 100 000 open regions, used in turn. */
  REGIONS_100000("100 000 regions", 16, 4096, 1, 100_000),
  /** Two devices, used in turn: one with critical calls, one with plain calls. */
  PROVIDERS_2("2 providers in turn", 16, 4096, 1, 1);

  private final String label;
  private final int depth;
  private final long bytes;
  private final int queuePairs;
  private final int regions;

  Load(String label, int depth, long bytes, int queuePairs, int regions) {
    this.label = label;
    this.depth = depth;
    this.bytes = bytes;
    this.queuePairs = queuePairs;
    this.regions = regions;
  }

  /**
   * Returns the name in tables and charts.
   *
   * @return the label
   */
  public String label() {
    return label;
  }

  /** Returns the number of requests that can be outstanding. */
  int depth() {
    return depth;
  }

  /** Opens the queue pairs, in the order in which they are used. */
  List<StandIn> open(CallStyle style) {
    StandIn first = open(this, style);
    List<StandIn> all = new ArrayList<>(List.of(first));
    for (int i = 1; i < queuePairs; i++) {
      all.add(first.withOtherQueuePair(depth));
    }
    for (int i = 1; i < regions; i++) {
      all.add(first.withOtherRegion());
    }
    if (this == PROVIDERS_2) {
      all.add(open(this, style == CallStyle.PLAIN ? CallStyle.CRITICAL : CallStyle.PLAIN));
    }
    return all;
  }

  private static StandIn open(Load load, CallStyle style) {
    return StandIn.open(StandIn.FAST, style, Queues.PLAIN, load.depth, load.bytes);
  }
}
