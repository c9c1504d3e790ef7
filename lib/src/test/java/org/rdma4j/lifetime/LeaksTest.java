package org.rdma4j.lifetime;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which of the objects that were dropped are reported. */
final class LeaksTest {
  private final List<String> reports = new CopyOnWriteArrayList<>();
  private final Logger logger = Logger.getLogger("org.rdma4j");
  private final Handler handler =
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

  @BeforeEach
  void listen() {
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
  }

  @AfterEach
  void stopListening() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }

  @Test
  void anObjectThatIsDroppedWhileOpenIsReported() throws Exception {
    drop(new Lifetime("the parent", () -> {}));
    assertThat(reports).singleElement().asString().startsWith("the child was never closed");
  }

  @Test
  void anObjectThatIsDroppedWhileItsParentIsBeingClosedIsNotReported() {
    Lifetime parent = new Lifetime("the parent", () -> {});
    Runnable dropSibling =
        () -> {
          try {
            drop(parent);
          } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
          }
        };
    Lifetime youngest = new Lifetime("the youngest child", dropSibling, parent);
    parent.close();
    assertThat(youngest.isOpen()).isFalse();
    assertThat(reports).isEmpty();
  }

  /** Lets an object with this parent be collected, and its report come. */
  private static void drop(Lifetime parent) throws InterruptedException {
    Lifetime child = new Lifetime("the child", () -> {}, parent);
    WeakReference<Object> dropped = watch(child);
    while (dropped.get() != null) {
      System.gc();
      Thread.sleep(10);
    }
    Thread.sleep(200);
    assertThat(child.isOpen()).isTrue();
  }

  private static WeakReference<Object> watch(Lifetime lifetime) {
    Object held = new Object();
    Leaks.watch(held, lifetime);
    return new WeakReference<>(held);
  }
}
