package org.rdma4j.bindings;

/** A claim of the bindings about C: that this constant expression has this value. */
record Fact(String name, String expression, long value) {}
