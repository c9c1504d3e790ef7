package org.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.AccessFlag;

/** What the requests of a test do. */
enum Verb {
  SEND("Send", null),
  WRITE("RDMA_Write", AccessFlag.REMOTE_WRITE),
  READ("RDMA_Read", AccessFlag.REMOTE_READ),
  ATOMIC("Atomic", AccessFlag.REMOTE_ATOMIC);

  private final String title;
  private final @Nullable AccessFlag access;

  Verb(String title, @Nullable AccessFlag access) {
    this.title = title;
    this.access = access;
  }

  /** Returns its name in the output. */
  String title() {
    return title;
  }

  /** Returns what the peer may do with this side's memory. */
  AccessFlag[] access() {
    return access == null ? new AccessFlag[0] : new AccessFlag[] {access};
  }

  /** Returns whether the data flows from the peer to the side that posts the request. */
  boolean fetches() {
    return this == READ || this == ATOMIC;
  }
}
