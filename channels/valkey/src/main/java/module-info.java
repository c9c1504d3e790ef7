/** Sockets to Valkey servers over RDMA: see {@link org.rdma4j.valkey}. */
module org.rdma4j.valkey {
  requires static org.jspecify;
  requires static transitive redis.clients.jedis;
  requires transitive org.rdma4j;

  exports org.rdma4j.valkey;
}
