package org.rdma4j.nio;

/**
 * What carries one direction of a channel. Each direction changes on its own:
 *
 * <table>
 * <caption>The changes, and when they happen</caption>
 * <tr><th>from</th><th>to</th><th>when</th></tr>
 * <tr><td>TCP</td><td>RDMA</td><td>the sender has named its offset, and the receiver has read all
 * before that</td></tr>
 * <tr><td>RDMA</td><td>TCP_AGAIN</td><td>RDMA has failed, and the peer's record was accepted</td></tr>
 * <tr><td>TCP_AGAIN</td><td>RDMA</td><td>the resume has failed after that: the end of the RDMA
 * connection counts</td></tr>
 * </table>
 */
enum Carrier {
  /** TCP, and it may be RDMA later. */
  TCP,

  /** RDMA. If that has failed, nothing is carried until it is known whether TCP does again. */
  RDMA,

  /** TCP again, until the next upgrade. */
  TCP_AGAIN;

  /**
   * Returns what carries the direction from now on. It may be RDMA already.
   *
   * @throws IllegalStateException if that must not follow
   */
  Carrier to(Carrier next) {
    if (next == TCP || (next == TCP_AGAIN && this != RDMA)) {
      throw new IllegalStateException(
          "a direction that is carried by " + this + " must not change to " + next);
    }
    return next;
  }
}
