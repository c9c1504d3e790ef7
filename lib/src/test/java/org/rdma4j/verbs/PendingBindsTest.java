package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.StandIn;
import org.rdma4j.lifetime.BoundWindows;

/** A window has the key of the last bind that was posted. */
@Tag(StandIn.TAG)
final class PendingBindsTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int TIMES = 100;

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final MemoryRegion region = domain.register(64, AccessFlag.MEMORY_WINDOW_BIND);
  private final MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
  private final BoundWindows ofQueuePair = new BoundWindows();
  private final Set<Long> posted = new HashSet<>();
  private final PendingBinds binds = new PendingBinds(posted::contains);

  @AfterEach
  void close() {
    device.close();
  }

  private int bind(long request) {
    int key = window.nextKey();
    window.requested(region, ofQueuePair, key, binds.add(request, window, key));
    return key;
  }

  @Test
  void droppedBindsAreUndoneAndPostedOnesAreNot() {
    int first = bind(1);
    posted.add(1L);
    int second = bind(2);
    bind(3);
    binds.settle();
    assertThat(binds.isEmpty()).isFalse();
    assertThat(window.remoteKey()).isNotEqualTo(second);
    binds.drop();
    assertThat(binds.isEmpty()).isTrue();
    assertThat(window.remoteKey()).isEqualTo(first);
  }

  @Test
  void aBindAllocatesNothing() {
    long least = Long.MAX_VALUE;
    PendingBinds all = new PendingBinds(request -> true);
    for (int i = 0; i < TIMES; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      int key = window.nextKey();
      window.requested(region, ofQueuePair, key, all.add(1, window, key));
      all.settle();
      window.invalidated();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(least).isZero();
  }
}
