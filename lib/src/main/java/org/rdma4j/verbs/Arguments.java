package org.rdma4j.verbs;

import org.rdma4j.platform.Range;

/** Refuses bad arguments with the value, the range and the remedy, before C sees them. */
final class Arguments {
  private Arguments() {}

  static int checkRange(String name, int value, int least, int most) {
    return Range.check(name, value, least, most);
  }

  static int checkIndex(String name, int index, int length) {
    return checkRange(name, index, 0, length - 1);
  }

  static void checkSameDevice(String name, RdmaDevice actual, RdmaDevice expected) {
    if (actual != expected) {
      throw new IllegalArgumentException(
          "the " + name + " belongs to " + actual + ", must belong to " + expected);
    }
  }
}
