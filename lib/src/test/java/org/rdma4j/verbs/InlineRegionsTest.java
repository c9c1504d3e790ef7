package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.StandIn;

/** What a post asks for each time once a request of its batch has bound a memory window. */
@Tag(StandIn.TAG)
final class InlineRegionsTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int TIMES = 100;

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final MemoryRegion first = domain.register(64);
  private final MemoryRegion second = domain.register(64);
  private final InlineRegions regions =
      new InlineRegions(
          domain
              .createQueuePair(
                  QueuePairConfig.reliable(
                      device.createCompletionQueue(CompletionQueueConfig.of(100))))
              .sendRequests(1));

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void regionsAreOpenUntilOneIsClosedAndAfterItIsDropped() {
    regions.add(first);
    regions.add(second);
    assertThat(regions.areOpen()).isTrue();
    first.close();
    assertThat(regions.areOpen()).isFalse();
    regions.dropClosed();
    assertThat(regions.areOpen()).isTrue();
    second.close();
    assertThat(regions.areOpen()).isFalse();
  }

  @Test
  void toAskAllocatesNothing() {
    regions.add(first);
    regions.add(second);
    long least = Long.MAX_VALUE;
    for (int i = 0; i < TIMES; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      boolean open = regions.areOpen();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
      assertThat(open).isTrue();
    }
    assertThat(least).isZero();
  }
}
