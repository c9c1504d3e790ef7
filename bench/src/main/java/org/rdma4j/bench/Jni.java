package org.rdma4j.bench;

/** {@code jni.c}: what bindings over JNI are made of. Addresses are not checked. */
final class Jni {
  static {
    System.loadLibrary("jni");
  }

  private Jni() {}

  /** {@code ibv_post_send}: 0 or the errno value. */
  static native int post(long queuePair, long requests);

  /** {@code ibv_poll_cq}: the number of completions, or a negative value. */
  static native int poll(long completionQueue, int max, long completions);

  static native void putLong(long address, long value);

  static native void putInt(long address, int value);

  static native long getLong(long address);

  static native int getInt(long address);
}
