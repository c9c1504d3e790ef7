package org.rdma4j.platform;

/**
 * Builds the threads of this library. Often a thread of a program starts them: they do not keep its
 * class loader and its inheritable thread locals, which would never be collected. They are platform
 * threads, because virtual threads make no progress while those of the program keep all processors
 * busy.
 */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** Returns the builder of one thread. */
  public static Thread.Builder.OfPlatform named(String name) {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name(name);
  }
}
