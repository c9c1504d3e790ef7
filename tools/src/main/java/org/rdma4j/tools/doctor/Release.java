package org.rdma4j.tools.doctor;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The first two numbers of a version, of the kernel or of rdma-core. */
record Release(int major, int minor) implements Comparable<Release> {
  private static final Pattern NUMBERS = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})(?!\\d).*");

  /** Returns the release that a text begins with, such as {@code 6.1.0-18-amd64}. */
  static Optional<Release> startOf(String text) {
    Matcher numbers = NUMBERS.matcher(text);
    return numbers.matches()
        ? Optional.of(
            new Release(Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2))))
        : Optional.empty();
  }

  @Override
  public int compareTo(Release other) {
    return Comparator.comparingInt(Release::major)
        .thenComparingInt(Release::minor)
        .compare(this, other);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
