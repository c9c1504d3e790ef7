package org.rdma4j.samples.rcopy;

import java.util.Locale;
import org.rdma4j.samples.command.Progress;

/** Shows how much of a file is copied, and how fast. */
final class FileProgress {
  private static final double MIB = 1 << 20;

  private final Progress shown;
  private final long length;
  private final long began = System.nanoTime();
  private long done;

  FileProgress(Progress shown, long length) {
    this.shown = shown;
    this.length = length;
  }

  void add(int bytes) {
    done += bytes;
    shown.show(this::text);
  }

  void end() {
    shown.end();
  }

  long left() {
    return length - done;
  }

  private double seconds() {
    return Math.max(1, System.nanoTime() - began) / 1e9;
  }

  private String text() {
    double rate = done / seconds();
    return String.format(
        Locale.ROOT,
        "%d of %d bytes (%d %%), %.1f MiB/s, %.0f s left",
        done,
        length,
        Math.round(100.0 * done / length),
        rate / MIB,
        left() / rate);
  }

  /** Returns the result in the format of rcopy in C. */
  String total() {
    return String.format(
        Locale.ROOT,
        "%d bytes in %.2f seconds = %.2f Gb/sec",
        length,
        seconds(),
        length * 8 / seconds() / 1e9);
  }
}
