package org.rdma4j;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the library logs while this is open, instead of on the terminal. */
public final class Warnings implements AutoCloseable {
  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Logger logger = Logger.getLogger("org.rdma4j");
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          messages.add(String.valueOf(entry.getMessage()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  public Warnings() {
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
  }

  /** Returns the messages that contain a text. */
  public List<String> containing(String text) {
    return messages.stream().filter(message -> message.contains(text)).toList();
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }
}
