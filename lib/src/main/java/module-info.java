/**
 * RDMA for the JVM: the verbs and the connection manager of rdma-core, behind an API that cannot
 * crash the JVM and costs little more than C.
 *
 * <ul>
 *   <li>{@link org.rdma4j.connection}: connections that carry messages, found by IP address and
 *       port.
 *   <li>{@link org.rdma4j.verbs}: devices, memory regions, completion queues, queue pairs and
 *       requests, as in libibverbs, with {@link org.rdma4j.verbs.attribute} and {@link
 *       org.rdma4j.verbs.address}.
 *   <li>{@link org.rdma4j.memory}, {@link org.rdma4j.flow}: pools of registered memory, and flow
 *       steering, on top of the verbs.
 *   <li>{@link org.rdma4j.cm}: the connection manager, as in librdmacm.
 *   <li>{@link org.rdma4j}: the exceptions that all packages throw.
 * </ul>
 *
 * <p>{@link org.rdma4j.verbs.RdmaDevice#availability} says whether a process can use RDMA, and if
 * not, why.
 *
 * <p>Start Java with {@code --enable-native-access=org.rdma4j,org.rdma4j.bindings}, or, on the
 * class path, with {@code --enable-native-access=ALL-UNNAMED}.
 */
module org.rdma4j {
  requires static org.jspecify;
  requires jdk.jfr;
  requires org.rdma4j.bindings;

  exports org.rdma4j;
  exports org.rdma4j.cm;
  exports org.rdma4j.connection;
  exports org.rdma4j.flow;
  exports org.rdma4j.memory;
  exports org.rdma4j.verbs;
  exports org.rdma4j.verbs.address;
  exports org.rdma4j.verbs.attribute;
}
