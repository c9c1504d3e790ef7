package org.rdma4j.misuse;

import java.util.concurrent.atomic.AtomicInteger;

/** What must not happen, and has. It is printed immediately, because the program may hang later. */
final class Failures {
  private final AtomicInteger count = new AtomicInteger();

  void add(String what) {
    count.incrementAndGet();
    System.out.println("FAILURE: " + what);
  }

  void add(String what, Throwable thrown) {
    synchronized (System.out) {
      add(what);
      thrown.printStackTrace(System.out);
    }
  }

  int count() {
    return count.get();
  }
}
