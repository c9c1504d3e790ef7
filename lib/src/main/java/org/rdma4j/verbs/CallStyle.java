package org.rdma4j.verbs;

/**
 * How posts and polls are called. {@link RdmaDevice#open(String)} chooses by the device; this is
 * for those who know better. The system property {@code org.rdma4j.calls}, {@code plain} or {@code
 * critical}, overrides both.
 */
public enum CallStyle {
  /**
   * With the change of the thread's state that the JVM makes around native code: some 20 ns more,
   * and right for a provider that enters the kernel to post, as those of software devices do.
   */
  PLAIN,
  /**
   * Without it: a garbage collector waits until the call returns. Right for a provider whose posts
   * and polls touch only memory and the device's registers, as those of adapters do.
   */
  CRITICAL;

  boolean isCritical() {
    return this == CRITICAL;
  }
}
