/** A transport of Netty over RDMA: see {@link org.rdma4j.netty}. */
module org.rdma4j.netty {
  requires static org.jspecify;
  requires transitive io.netty.buffer;
  requires transitive io.netty.common;
  requires transitive io.netty.transport;
  requires transitive org.rdma4j;

  exports org.rdma4j.netty;
}
