package org.rdma4j.bench;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.verbs.CallStyle;

/** How much there is of what a program may have much of: of one thing each. */
public enum Load {
  /** Of everything the least. */
  MIN("least of all", 16, 4096, 1, 1),
  /** Queue pairs on one completion queue, used in turn. */
  QUEUE_PAIRS_32("32 queue pairs", 16, 4096, 32, 1),
  /** The same. */
  QUEUE_PAIRS_1024("1024 queue pairs", 16, 4096, 1024, 1),
  /** All of a queue is in use: each poll takes the completion of the request so many before. */
  DEPTH_1024("depth 1024", 1024, 4096, 1, 1),
  /** The same. */
  DEPTH_16384("depth 16384", 16384, 4096, 1, 1),
  /** Bytes of a region, sent one piece after another. */
  MEMORY_1_MIB("1 MiB registered", 16, 1L << 20, 1, 1),
  /** The same. */
  MEMORY_4_GIB("4 GiB registered", 16, 4L << 30, 1, 1),
  /** Regions that are open, used in turn. */
  REGIONS_1000("1000 regions", 16, 4096, 1, 1000),
  /** The same. */
  REGIONS_100000("100 000 regions", 16, 4096, 1, 100_000),
  /** Two devices in turn, of which one gets critical and one plain calls. */
  PROVIDERS_2("2 providers in turn", 16, 4096, 1, 1);

  private final String words;
  private final int depth;
  private final long bytes;
  private final int queuePairs;
  private final int regions;

  Load(String words, int depth, long bytes, int queuePairs, int regions) {
    this.words = words;
    this.depth = depth;
    this.bytes = bytes;
    this.queuePairs = queuePairs;
    this.regions = regions;
  }

  String words() {
    return words;
  }

  /** How many requests may be outstanding. */
  int depth() {
    return depth;
  }

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
