package org.rdma4j.connection;

/**
 * What {@link DrivenNode#drive} does while there is nothing to do. The shorter the time until a
 * message is found, the more of a processor that takes.
 */
public enum IdleStrategy {
  /**
   * Polls without a pause, and so takes a processor for itself: for a thread that is pinned to one.
   */
  BUSY,

  /**
   * Polls as long as that has found something soon the last times, for at most 1 ms, and then
   * sleeps. A thread that exchanges short messages finds each immediately, and a thread that has
   * nothing to do sleeps.
   */
  SPIN,

  /** Sleeps immediately: for many loops on few processors. */
  SLEEP
}
