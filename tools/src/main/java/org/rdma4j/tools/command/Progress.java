package org.rdma4j.tools.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/** A line on standard error that shows how far the work has come. */
public final class Progress {
  private static final long TERMINAL_INTERVAL_NANOS = Duration.ofMillis(200).toNanos();
  private static final long INTERVAL_NANOS = Duration.ofSeconds(1).toNanos();
  private static final String CLEAR_LINE = "\r\033[K";

  private final PrintWriter err;
  private final boolean terminal;
  private final boolean shown;
  private long last = System.nanoTime();
  private boolean lineOpen;

  /**
   * Creates a line that is shown on a terminal, and elsewhere only on request.
   *
   * @param err the standard error
   * @param requested whether to print lines even if standard error is not a terminal
   */
  public Progress(PrintWriter err, boolean requested) {
    this.err = err;
    this.terminal = isTerminal();
    this.shown = requested || terminal;
  }

  /**
   * Shows a number of iterations, if it is time for the next line.
   *
   * @param done how many are done
   * @param total how many there are
   */
  public void show(long done, long total) {
    show(() -> "%d of %d iterations (%d %%)".formatted(done, total, done * 100 / total));
  }

  /**
   * Shows a text, if it is time for the next line.
   *
   * @param text the text, which is asked for only if it is shown
   */
  public void show(Supplier<String> text) {
    long now = System.nanoTime();
    if (!shown || now - last < (terminal ? TERMINAL_INTERVAL_NANOS : INTERVAL_NANOS)) {
      return;
    }
    last = now;
    String line = "  " + text.get();
    if (terminal) {
      err.print(CLEAR_LINE + line);
      err.flush();
      lineOpen = true;
    } else {
      err.println(line);
    }
  }

  /** Clears the line on a terminal. */
  public void end() {
    if (lineOpen) {
      err.print(CLEAR_LINE);
      err.flush();
    }
  }

  /** System.console() knows only about standard input and output, so this asks the kernel. */
  private static boolean isTerminal() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException unknown) {
      return false;
    }
  }
}
