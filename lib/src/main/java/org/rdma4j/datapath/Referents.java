package org.rdma4j.datapath;

import java.util.Arrays;

/** What the requests of a chain point to, at most two objects each. */
public final class Referents {
  private static final int EACH = 2;

  private final Referent initial;
  private final Referent[] referents;

  /** For so many requests that, at first, each point to that. */
  Referents(int requests, Referent initial) {
    this.initial = initial;
    this.referents = new Referent[EACH * requests];
    Arrays.fill(referents, initial);
  }

  public void reset(int request) {
    set(request, initial, initial);
  }

  public void set(int request, Referent first, Referent second) {
    referents[EACH * request] = first;
    referents[EACH * request + 1] = second;
  }

  /** Lets a request that points to what it did at first point to nothing. */
  public void fill(int request) {
    if (referents[EACH * request] == initial) {
      set(request, Referent.NONE, Referent.NONE);
    }
  }

  /** Throws where one of those of the requests from the first to before the end is gone. */
  void check(int first, int end) {
    for (int i = EACH * first; i < EACH * end; i++) {
      referents[i].check();
    }
  }
}
