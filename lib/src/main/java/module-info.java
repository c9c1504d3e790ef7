/**
 * RDMA for the JVM: the verbs and the connection manager of rdma-core behind an API that cannot
 * crash the JVM, at a cost next to C's.
 *
 * <p>Run with {@code --enable-native-access=org.rdma4j,org.rdma4j.bindings}, on the class path with
 * {@code --enable-native-access=ALL-UNNAMED}.
 */
module org.rdma4j {
  requires static transitive org.jspecify;
  requires org.rdma4j.bindings;

  exports org.rdma4j;
  exports org.rdma4j.cm;
  exports org.rdma4j.connection;
  exports org.rdma4j.endpoint;
  exports org.rdma4j.flow;
  exports org.rdma4j.memory;
  exports org.rdma4j.verbs;
  exports org.rdma4j.verbs.address;
  exports org.rdma4j.verbs.attribute;
}
