package org.rdma4j.samples;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/** A line on standard error that tells how far long work has come. */
final class Progress {
  private static final long PAUSE_ON_TERMINAL = Duration.ofMillis(200).toNanos();
  private static final long PAUSE = Duration.ofSeconds(1).toNanos();
  private static final String CLEAR_LINE = "\r\033[K";

  private final PrintWriter err;
  private final boolean terminal;
  private final boolean shown;
  private long last = System.nanoTime();
  private boolean lineOpen;

  /** Shows it on a terminal, and elsewhere where it is asked for. */
  Progress(PrintWriter err, boolean asked) {
    this.err = err;
    this.terminal = isTerminal();
    this.shown = asked || terminal;
  }

  void show(long done, long total) {
    show(() -> "%d of %d iterations (%d %%)".formatted(done, total, done * 100 / total));
  }

  /** Words of one's own, which are asked for only when it is time for them. */
  void show(Supplier<String> words) {
    long now = System.nanoTime();
    if (!shown || now - last < (terminal ? PAUSE_ON_TERMINAL : PAUSE)) {
      return;
    }
    last = now;
    String text = "  " + words.get();
    if (terminal) {
      err.print(CLEAR_LINE + text);
      err.flush();
      lineOpen = true;
    } else {
      err.println(text);
    }
  }

  void end() {
    if (lineOpen) {
      err.print(CLEAR_LINE);
      err.flush();
    }
  }

  /** System.console() tells of standard input and output only. */
  private static boolean isTerminal() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException unknown) {
      return false;
    }
  }
}
