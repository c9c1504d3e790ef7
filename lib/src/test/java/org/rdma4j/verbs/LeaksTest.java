package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The report of objects that are dropped without being closed. */
@Tag("device")
final class LeaksTest {
  @Test
  void anObjectThatIsDroppedWhileOpenIsReportedOnceAndAClosedOneIsNot() throws Exception {
    List<String> reports = new CopyOnWriteArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord entry) {
            reports.add(entry.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger("org.rdma4j");
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
    try (RdmaDevice device = Loopback.openDevice();
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      dropAndClose(domain);
      long deadline = System.nanoTime() + Loopback.PATIENCE.toNanos();
      while (reports.isEmpty() && System.nanoTime() - deadline < 0) {
        System.gc();
        Thread.sleep(50);
      }
      System.gc();
      Thread.sleep(100);
      assertThat(reports)
          .singleElement()
          .asString()
          .contains("memory region of 4242 bytes")
          .contains("was never closed")
          .contains("-Dorg.rdma4j.leaks=stack");
    } finally {
      logger.removeHandler(handler);
      logger.setUseParentHandlers(true);
    }
  }

  private static void dropAndClose(ProtectionDomain domain) {
    assertThat(domain.register(4242).localKey()).isNotZero();
    domain.register(1111).close();
  }
}
