module hello {
  requires org.rdma4j;
}
