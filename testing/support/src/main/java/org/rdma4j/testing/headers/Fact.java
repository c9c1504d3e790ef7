package org.rdma4j.testing.headers;

/**
 * A claim of the bindings about C: that this constant expression has this value.
 *
 * @param symbol what it is about: a constant, a type such as {@code struct ibv_qp}, or a member
 *     such as {@code struct ibv_qp.qp_num}
 */
public record Fact(String symbol, String name, String expression, long value) {}
