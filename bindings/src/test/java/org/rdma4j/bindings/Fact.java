package org.rdma4j.bindings;

/** What the bindings claim of C: that this constant expression has this value. */
record Fact(String name, String expression, long value) {}
