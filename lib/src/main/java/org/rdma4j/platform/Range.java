package org.rdma4j.platform;

/** Refuses numbers out of their range, with the value and the range. */
public final class Range {
  private Range() {}

  /** The value, where it lies between both ends, which belong to the range. */
  public static int check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + ", must be from " + least + " to " + most);
    }
    return value;
  }
}
