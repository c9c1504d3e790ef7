package org.rdma4j.datapath;

import java.util.Arrays;
import java.util.List;

/** The objects that the requests of a chain point to, at most two for each request. */
public final class Referents {
  private static final int EACH = 2;

  private final Referent initial;
  private final Referent[] referents;

  /** Creates the objects of a number of requests, each of which points to the initial one. */
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

  /** Returns the objects that a request points to. */
  public List<Referent> of(int request) {
    return List.of(referents[EACH * request], referents[EACH * request + 1]);
  }

  /** Makes a request point to nothing, if it still points to the initial object. */
  public void fill(int request) {
    if (referents[EACH * request] == initial) {
      set(request, Referent.NONE, Referent.NONE);
    }
  }

  /**
   * Throws IllegalStateException if an object of the requests from {@code first} to {@code end - 1}
   * is gone.
   */
  void check(int first, int end) {
    for (int i = EACH * first; i < EACH * end; i++) {
      referents[i].check();
    }
  }
}
