package org.rdma4j.samples.perftest;

import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.verbs.AccessFlag;

/** What the requests of a test do. */
enum Verb {
  SEND("Send", EnumSet.noneOf(AccessFlag.class)),
  WRITE("RDMA_Write", EnumSet.of(AccessFlag.REMOTE_WRITE)),
  READ("RDMA_Read", EnumSet.of(AccessFlag.REMOTE_READ)),
  ATOMIC("Atomic", EnumSet.of(AccessFlag.REMOTE_ATOMIC));

  private final String title;
  private final Set<AccessFlag> access;

  Verb(String title, Set<AccessFlag> access) {
    this.title = title;
    this.access = access;
  }

  /** Returns its name in the output. */
  String title() {
    return title;
  }

  /** Returns what the peer may do with this side's memory. */
  AccessFlag[] access() {
    return access.toArray(AccessFlag[]::new);
  }

  /** Returns whether the data flows from the peer to the side that posts the request. */
  boolean fetches() {
    return this == READ || this == ATOMIC;
  }
}
