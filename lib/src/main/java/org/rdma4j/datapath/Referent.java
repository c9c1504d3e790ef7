package org.rdma4j.datapath;

import java.lang.invoke.VarHandle;

/**
 * What a request points to, in memory that a provider's post reads: an address handle, a memory
 * window. A post looks, inside a {@link HotCall}, whether it is still there; who destroys it says
 * so first and then waits until no thread is inside a post that looked before.
 */
public final class Referent {
  /** For requests that point to nothing. */
  public static final Referent NONE = new Referent("");

  /** For datagrams that point to nothing, since they must. */
  public static final Referent MISSING =
      missing("the datagram's destination is not given: to(...)");

  /** For requests that name no shared receive queue of the peer, since they must. */
  public static final Referent MISSING_QUEUE =
      missing("the peer's shared receive queue is not given: toSharedReceiveQueue(...)");

  private final String refusal;
  private boolean gone;

  private Referent(String refusal) {
    this.refusal = refusal;
  }

  private static Referent missing(String refusal) {
    Referent missing = new Referent(refusal);
    missing.gone = true;
    return missing;
  }

  public static Referent of(String name) {
    return new Referent(name + " is closed");
  }

  /** Throws where it is gone. */
  public void check() {
    if (gone) {
      throw new IllegalStateException(refusal);
    }
  }

  /** After this no post of those uses it. */
  public void leave(HotCalls posts) {
    gone = true;
    VarHandle.fullFence();
    posts.awaitOutside();
  }
}
