package org.rdma4j.samples.rcopy;

import java.util.Locale;

/** How much of a file is copied, and how fast. */
final class FileProgress {
  private final long length;
  private final long began = System.nanoTime();
  private long done;

  FileProgress(long length) {
    this.length = length;
  }

  void add(int bytes) {
    done += bytes;
  }

  long left() {
    return length - done;
  }

  /** Returns the result in the format of rcopy in C. */
  String total() {
    double seconds = Math.max(1, System.nanoTime() - began) / 1e9;
    return String.format(
        Locale.ROOT,
        "%d bytes in %.2f seconds = %.2f Gb/sec",
        length,
        seconds,
        length * 8 / seconds / 1e9);
  }
}
