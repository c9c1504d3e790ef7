/** The counters of rdma4j as meters of Micrometer: see {@link org.rdma4j.micrometer}. */
module org.rdma4j.micrometer {
  requires static org.jspecify;
  requires transitive micrometer.core;
  requires transitive org.rdma4j;
  // Only a program that uses its channels needs it, and has it.
  requires static transitive org.rdma4j.nio;

  exports org.rdma4j.micrometer;
}
