package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;

@Tag("device")
final class CmLeaksTest {
  private static final class Reports extends Handler {
    final List<String> messages = new CopyOnWriteArrayList<>();

    boolean name(String object) {
      return messages.stream()
          .anyMatch(text -> text.startsWith(object) && text.contains("was never closed"));
    }

    @Override
    public void publish(LogRecord entry) {
      messages.add(entry.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void aDroppedChannelIsReportedAndSoIsItsQueuePair() throws Exception {
    Reports reports = new Reports();
    Logger logger = Logger.getLogger("org.rdma4j");
    logger.addHandler(reports);
    logger.setUseParentHandlers(false);
    RdmaDevice device = CmDevices.list().getFirst();
    try (CompletionQueue queue = device.createCompletionQueue(8);
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      Lifetime dropped = drop(domain, QueuePairConfig.reliable(queue));
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (!reports.name("event channel") || !reports.name("queue pair")) {
        assertThat(System.nanoTime() - deadline).as("%s", reports.messages).isNegative();
        System.gc();
        Thread.sleep(50);
      }
      dropped.close();
    } finally {
      logger.removeHandler(reports);
      logger.setUseParentHandlers(true);
    }
  }

  /** Drops a channel with an identifier and a queue pair, and returns the channel's lifetime. */
  private static Lifetime drop(ProtectionDomain domain, QueuePairConfig config)
      throws InterruptedException {
    EventChannel channel = EventChannel.open();
    CmId id = channel.createId(PortSpace.TCP);
    id.resolveAddress(CmLoopback.address(9), PATIENCE);
    assertThat(channel.awaitEvent(PATIENCE)).containsInstanceOf(CmEvent.AddressResolved.class);
    assertThat(id.createQueuePair(domain, config).number()).isPositive();
    return channel.lifetime();
  }
}
