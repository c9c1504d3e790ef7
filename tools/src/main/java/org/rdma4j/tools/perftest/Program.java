package org.rdma4j.tools.perftest;

/** The tests, each of which is a program. */
enum Program {
  SEND_LAT("ib_send_lat", Verb.SEND, false),
  SEND_BW("ib_send_bw", Verb.SEND, true),
  WRITE_LAT("ib_write_lat", Verb.WRITE, false),
  WRITE_BW("ib_write_bw", Verb.WRITE, true),
  READ_LAT("ib_read_lat", Verb.READ, false),
  READ_BW("ib_read_bw", Verb.READ, true),
  ATOMIC_LAT("ib_atomic_lat", Verb.ATOMIC, false),
  ATOMIC_BW("ib_atomic_bw", Verb.ATOMIC, true);

  private final String nameInC;
  private final Verb verb;
  private final boolean bandwidth;

  Program(String nameInC, Verb verb, boolean bandwidth) {
    this.nameInC = nameInC;
    this.verb = verb;
    this.bandwidth = bandwidth;
  }

  /** Returns the program of perftest. */
  String nameInC() {
    return nameInC;
  }

  Verb verb() {
    return verb;
  }

  /** Returns whether it measures bandwidth, rather than latency. */
  boolean isBandwidth() {
    return bandwidth;
  }

  /** Returns whether the requests of one side are sent when those of the other have arrived. */
  boolean isPingPong() {
    return !bandwidth && !verb.fetches();
  }
}
