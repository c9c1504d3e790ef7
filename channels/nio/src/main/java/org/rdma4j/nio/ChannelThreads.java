package org.rdma4j.nio;

/**
 * Starts the threads of this package. A thread of a program starts them: they do not keep its class
 * loader and its inheritable thread locals, which would never be collected. They are platform
 * threads, because virtual threads make no progress while those of the program keep all processors
 * busy.
 */
final class ChannelThreads {
  private ChannelThreads() {}

  static Thread.Builder.OfPlatform named(String name) {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name(name);
  }

  static Thread start(String name, Runnable task) {
    return named(name).start(task);
  }
}
