package org.rdma4j.platform;

/** Checks that numbers are in range; the exception names the number and the range. */
public final class Range {
  private Range() {}

  /** Returns the value if it is from min to max, both inclusive. */
  public static int check(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " is " + value + ", must be from " + min + " to " + max);
    }
    return value;
  }

  /** Returns the index if it is from 0 to length - 1. */
  public static int checkIndex(String name, int index, int length) {
    return check(name, index, 0, length - 1);
  }
}
