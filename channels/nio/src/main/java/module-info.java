/**
 * RDMA for programs that use the channels of {@code java.nio}, without a change to them: see {@link
 * org.rdma4j.nio}.
 */
module org.rdma4j.nio {
  requires static org.jspecify;
  requires java.instrument;
  // Optional: a runtime without it cannot show its channels to JMX.
  requires static java.management;
  requires jdk.jfr;
  // JdkProvider needs it if the JDK's provider is not exported.
  requires jdk.unsupported;
  requires org.rdma4j;

  exports org.rdma4j.nio;
}
