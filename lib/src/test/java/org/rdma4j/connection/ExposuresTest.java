package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.connection.session.Exposure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Loopback;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;

/** Windows are used again: without new objects, and without access that was granted before. */
@Tag("mlx5")
final class ExposuresTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int OFFERS = 100;

  private final Loopback loopback =
      Loopback.connected(
          config -> config, path -> path.access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
  private final Exposures exposures = new Exposures(loopback.domain);
  private final MemoryRegion region =
      exposures.register(MemoryRegionConfig.allocate(8192), AccessFlag.LOCAL_WRITE);

  @AfterEach
  void close() {
    loopback.close();
  }

  private Exposure toRead(long offset, long length) {
    return exposures.toRead(region, offset, length, loopback.b.queuePair);
  }

  private void describeBind(Exposure exposure) {
    loopback.b.sends.add(1);
    ((Exposures.Bound) exposure).bind(loopback.b.sends);
  }

  private void bind(Exposure exposure) {
    describeBind(exposure);
    post();
  }

  private void invalidate(Exposure exposure) {
    loopback.b.sends.add(2);
    ((Exposures.Bound) exposure).invalidate(loopback.b.sends);
    post();
  }

  private void invalidateAndRelease(Exposure exposure) {
    invalidate(exposure);
    exposure.release();
  }

  private void post() {
    loopback.b.sends.signaled().post();
    while (loopback.b.completions.poll() == 0) {
      Thread.onSpinWait();
    }
    loopback.b.completions.requireSuccess(0);
  }

  private CompletionStatus read(Exposure exposure) {
    loopback.a.sends.add(3).read(exposure.address(), exposure.key());
    return statusOfA();
  }

  private CompletionStatus write(Exposure exposure) {
    loopback.a.sends.add(4).write(exposure.address(), exposure.key());
    return statusOfA();
  }

  private CompletionStatus statusOfA() {
    loopback.a.sends.from(loopback.a.region, 0, 8).signaled().post();
    return loopback.a.await(1).getFirst().status();
  }

  /** Returns what two exposures at a time allocate, without the calls of the device. */
  private long allocatedForTwo() {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    Exposure first = toRead(0, 4096);
    Exposure second = toRead(4096, 4096);
    describeBind(first);
    describeBind(second);
    long described = THREADS.getCurrentThreadAllocatedBytes();
    post();
    invalidate(first);
    invalidate(second);
    long posted = THREADS.getCurrentThreadAllocatedBytes();
    first.release();
    second.release();
    return described - before + THREADS.getCurrentThreadAllocatedBytes() - posted;
  }

  @Test
  void anOfferAllocatesNothing() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < OFFERS; i++) {
      least = Math.min(least, allocatedForTwo());
    }
    assertThat(least).as("bytes allocated for two exposures").isZero();
  }

  @Test
  void rangesThatAreExposedTogetherHaveDifferentKeys() {
    Exposure first = toRead(0, 64);
    Exposure second = toRead(0, 64);
    bind(first);
    bind(second);
    assertThat(first.key()).isNotEqualTo(second.key());
    invalidateAndRelease(first);
    Exposure third = toRead(64, 64);
    bind(third);
    assertThat(third).as("kept").isSameAs(first);
    assertThat(third.key()).isNotEqualTo(second.key());
    assertThat(read(second)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(read(third)).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void anExposureThatIsUsedAgainHasANewKey() {
    Exposure exposure = toRead(0, 64);
    bind(exposure);
    int first = exposure.key();
    invalidateAndRelease(exposure);
    bind(toRead(0, 64));
    assertThat(exposure.key()).isNotEqualTo(first);
    loopback.a.sends.add(5).read(exposure.address(), first);
    assertThat(statusOfA()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void whatAPeerCouldWriteToIsUsedAgainForReadsOnly() {
    Exposure written =
        exposures.forUser(
            region.slice(0, 64), Set.of(AccessFlag.REMOTE_WRITE), loopback.b.queuePair);
    bind(written);
    assertThat(write(written)).isEqualTo(CompletionStatus.SUCCESS);
    invalidateAndRelease(written);
    Exposure again = toRead(0, 64);
    assertThat(again).as("kept").isSameAs(written);
    bind(again);
    assertThat(read(again)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(write(again)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }
}
