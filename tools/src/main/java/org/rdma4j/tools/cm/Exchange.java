package org.rdma4j.tools.cm;

/** The part of a program between its first and its last line of output. */
interface Exchange {
  void run() throws InterruptedException;
}
