package org.rdma4j.tools.cm;

import java.util.concurrent.TimeoutException;

/** The part of a program between its first and its last line of output. */
interface Exchange {
  void run() throws InterruptedException, TimeoutException;
}
