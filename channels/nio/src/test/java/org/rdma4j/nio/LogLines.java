package org.rdma4j.nio;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the channels of this process log, from the level INFO on, until the close. */
final class LogLines implements AutoCloseable {
  private final Logger logger = Logger.getLogger("org.rdma4j.nio");
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  LogLines() {
    logger.addHandler(handler);
  }

  List<String> that(String text) {
    return lines.stream().filter(each -> each.contains(text)).toList();
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
  }
}
