package org.rdma4j.connection;

/**
 * What a {@link Loop} polls: a completion queue, or the events of the connection manager. One
 * thread at a time calls it, which has the turn of the loop, unless a method says otherwise.
 */
interface Source {
  /** Handles what there is, up to a number; returns how much that was. */
  int poll(int most);

  /**
   * Makes {@link #descriptor} readable when there is more, and handles what came before that, up to
   * a number; returns how much that was.
   */
  int ask(int most);

  /** Returns whether {@link #ask} need not be called before a wait. */
  boolean isAsked();

  /** Records that the descriptor may have become readable. Called by the thread that has waited. */
  void takeEvent();

  /** Returns the descriptor that can be read when there is something. */
  int descriptor();

  /** Ends this, because one of the other methods has thrown an exception: it has no more. */
  void failed(Throwable thrown);
}
