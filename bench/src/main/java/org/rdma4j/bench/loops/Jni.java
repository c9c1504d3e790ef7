package org.rdma4j.bench.loops;

import org.rdma4j.bench.standin.StandInLibraries;

/** The native methods in {@code jni.c}, as bindings over JNI have them. They check no addresses. */
final class Jni {
  static {
    System.load(StandInLibraries.of("libjni.so").toString());
  }

  private Jni() {}

  /** Calls {@code ibv_post_send}; returns 0 or the errno value. */
  static native int post(long queuePair, long requests);

  /** Calls {@code ibv_poll_cq}; returns the number of completions, or a negative value. */
  static native int poll(long completionQueue, int max, long completions);

  static native void putLong(long address, long value);

  static native void putInt(long address, int value);

  static native long getLong(long address);

  static native int getInt(long address);
}
