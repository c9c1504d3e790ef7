package org.rdma4j.datapath;

import java.lang.invoke.VarHandle;

/**
 * An object that a request points to, in memory that the post of a provider reads: an address
 * handle, a memory window or a memory region. A post checks, inside a {@link HotCall}, that the
 * object is still open. A thread that closes it marks it as gone first, and then waits until no
 * thread is inside a post that made the check before.
 */
public final class Referent {
  /** For requests that point to nothing. */
  public static final Referent NONE = new Referent("");

  /** For datagrams without an address handle, which they require: the check fails. */
  public static final Referent MISSING = missing("the datagram has no destination; call to(...)");

  /**
   * For requests without a shared receive queue of the peer, which they require: the check fails.
   */
  public static final Referent MISSING_QUEUE =
      missing(
          "the request names no shared receive queue of the peer; call toSharedReceiveQueue(...)");

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

  /** Throws IllegalStateException if the object is gone. */
  public void check() {
    if (gone) {
      throw new IllegalStateException(refusal);
    }
  }

  /** Marks the object as gone; when this method returns, none of the posts uses it. */
  public void leave(HotCalls posts) {
    gone = true;
    VarHandle.fullFence();
    posts.awaitOutside();
  }
}
