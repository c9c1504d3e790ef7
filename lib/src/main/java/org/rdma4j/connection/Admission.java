package org.rdma4j.connection;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What becomes of a peer that connects to a server: see {@link ConnectHandler}. */
public final class Admission {
  private static final Admission HERE = new Admission(null, null);

  private final @Nullable NodeState home;
  private final @Nullable String refusal;

  private Admission(@Nullable NodeState home, @Nullable String refusal) {
    this.home = home;
    this.refusal = refusal;
  }

  /**
   * Accepts the peer, with the node of the server.
   *
   * @return the decision
   */
  public static Admission accept() {
    return HERE;
  }

  /**
   * Accepts the peer with a node that need not be that of the server. The connection is one of that
   * node: its buffers, its limits and its threads serve it, and its {@link RdmaServer#onAccept}
   * handler runs where the handlers of that node run.
   *
   * @param node the node of the connection
   * @return the decision
   */
  public static Admission acceptWith(RdmaNode node) {
    return new Admission(node.state(), null);
  }

  /**
   * Accepts the peer with a node that the program drives, so that one port is served by several
   * loops.
   *
   * @param loop the node of the connection
   * @return the decision
   */
  public static Admission acceptWith(DrivenNode loop) {
    return acceptWith(loop.node());
  }

  /**
   * Rejects the peer, whose connect fails with {@link
   * org.rdma4j.ConnectionException.Reason#REFUSED} and this reason.
   *
   * @param reason the reason, of which the peer gets the first 148 characters; it gets a question
   *     mark for each that is not ASCII
   * @return the decision
   */
  public static Admission reject(String reason) {
    return new Admission(null, Objects.requireNonNull(reason, "reason"));
  }

  /** Returns the node of the connection; null for that of the server. */
  @Nullable NodeState home() {
    return home;
  }

  /** Returns why the peer is rejected; null if it is not. */
  @Nullable String refusal() {
    return refusal;
  }
}
