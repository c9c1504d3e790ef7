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

  /** The calls that do not check this referent each time, because it disarms them. */
  private final HotCalls watchers = new HotCalls();

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

  /** Returns whether the object is gone. */
  public boolean isGone() {
    return gone;
  }

  /** Throws IllegalStateException if the object is gone. */
  public void check() {
    if (gone) {
      throw new IllegalStateException(refusal);
    }
  }

  /**
   * Disarms a call when the object is closed, so that the call need not check this each time. To be
   * called while the object is kept open.
   */
  public void addWatcher(HotCall call) {
    watchers.add(call);
  }

  /** Marks the object as gone; when this method returns, no watcher uses it. */
  public void leaveWatchers() {
    gone = true;
    watchers.disarm();
    VarHandle.fullFence();
    watchers.awaitOutside();
  }

  /** Marks the object as gone; when this method returns, no watcher and no post uses it. */
  public void leave(HotCalls posts) {
    leaveWatchers();
    posts.awaitOutside();
  }
}
