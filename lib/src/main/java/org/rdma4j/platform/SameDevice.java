package org.rdma4j.platform;

/** Checks that objects that are used together belong to the same opened device. */
public final class SameDevice {
  private SameDevice() {}

  /** Throws IllegalArgumentException if the named object belongs to another device. */
  public static void check(String name, Object actual, Object expected) {
    if (actual != expected) {
      throw new IllegalArgumentException(
          "the " + name + " belongs to " + actual + ", must belong to " + expected);
    }
  }
}
