package org.rdma4j;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Finds the faults of the library itself in what it logs: a step that serves several connections
 * has failed, or something was thrown that is neither documented nor thrown by user code. Nothing
 * is printed meanwhile.
 */
public final class LoggedFaults {
  /** The message of what user code throws on purpose. */
  public static final String ON_PURPOSE = "mischief";

  /** What the library logs if something of its own has failed. */
  private static final List<String> FAILED =
      List.of(
          "can no longer be", "a step has failed", "could not be delivered", "could not be closed");

  /** Not collected while this watches. */
  private final Logger logger = Logger.getLogger("org.rdma4j");

  private final boolean leaks;
  private final BiConsumer<String, Throwable> faults;

  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          judge(entry);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  /**
   * Watches what the library logs from now on.
   *
   * @param leaks whether an object that was never closed is a fault
   * @param faults gets each fault
   */
  public LoggedFaults(boolean leaks, BiConsumer<String, Throwable> faults) {
    this.leaks = leaks;
    this.faults = faults;
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  private void judge(LogRecord entry) {
    String message = entry.getMessage();
    Throwable thrown = entry.getThrown();
    // It ends like that if it is about a step that serves several.
    boolean failed = message.endsWith(" failed") || FAILED.stream().anyMatch(message::contains);
    boolean leak = leaks && message.contains("was never closed");
    if (failed || leak || isFault(thrown)) {
      faults.accept(message, thrown == null ? new RuntimeException("logged") : thrown);
    }
  }

  private static boolean isFault(Throwable thrown) {
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      boolean byUser = ON_PURPOSE.equals(each.getMessage()) || each instanceof StackOverflowError;
      if (byUser) {
        return false;
      }
      if (each instanceof Error
          || (each instanceof RuntimeException
              && !(each instanceof RdmaException)
              && !(each instanceof IllegalStateException))) {
        return true;
      }
    }
    return false;
  }

  /** Ends that. */
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }
}
