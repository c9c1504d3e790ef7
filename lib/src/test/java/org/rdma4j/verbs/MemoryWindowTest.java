package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.lifetime.BoundWindows;

/** A peer can access the part of a region that a window is bound to, and nothing else. */
@Tag("device")
@Tag("needs-memory-windows")
final class MemoryWindowTest {
  private static final int LENGTH = 8192;

  private Loopback loopback;
  private MemoryRegion source;
  private MemoryRegion target;
  private MemoryWindow window;

  @BeforeEach
  void connect() {
    loopback =
        Loopback.connected(
            config -> config, path -> path.access(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
    source = loopback.domain.register(LENGTH);
    target = bindable();
    window = loopback.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private MemoryRegion bindable() {
    return loopback.domain.register(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND);
  }

  /** Binds the window on the side that the peer writes to, and returns the key. */
  private int bind(MemoryRegion region, long offset, long length) {
    int key =
        window.bind(
            loopback.b.queuePair, 7, region.slice(offset, length), true, AccessFlag.REMOTE_WRITE);
    Loopback.Done done = loopback.b.await(1).getFirst();
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(done.opcode()).isEqualTo(CompletionOpcode.BIND_MEMORY_WINDOW);
    assertThat(done.id()).isEqualTo(7);
    return key;
  }

  private CompletionStatus write(MemoryRegion region, long offset, long length, int key) {
    return Messages.rdmaWrite(
        loopback, source.slice(0, length), region.remoteAddress() + offset, key);
  }

  @Test
  void aPeerWritesThroughTheWindow() {
    source.segment().fill((byte) 5);
    int key = bind(target, 100, 50);
    assertThat(key).isEqualTo(window.remoteKey()).isNotEqualTo(target.remoteKey());
    assertThat(write(target, 100, 50, key)).isEqualTo(CompletionStatus.SUCCESS);
    byte[] expected = new byte[LENGTH];
    Arrays.fill(expected, 100, 150, (byte) 5);
    assertThat(target.segment().toArray(JAVA_BYTE)).isEqualTo(expected);
  }

  /** This does not test the bounds of the window: soft-RoCE checks only those of the region. */
  @Test
  void aPeerCannotWriteBeyondTheRegionOfTheWindow() {
    int key = bind(target, LENGTH - 50, 50);
    assertThat(write(target, LENGTH - 49, 50, key)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void aWindowForReadingRefusesWrites() {
    int key =
        window.bind(loopback.b.queuePair, 1, target.slice(0, 64), true, AccessFlag.REMOTE_READ);
    loopback.b.await(1);
    assertThat(write(target, 0, 8, key)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void eachBindChangesTheLowByteOfTheKeyAndInvalidatesTheOldKey() {
    int first = bind(target, 0, 64);
    int second = bind(target, 0, 64);
    assertThat(second & ~0xff).isEqualTo(first & ~0xff);
    assertThat(second & 0xff).isEqualTo((first + 1) & 0xff);
    assertThat(write(target, 0, 8, second)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(write(target, 0, 8, first)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void theKeyRepeatsAfter256Binds() {
    int first = bind(target, 0, 64);
    for (int i = 0; i < 255; i++) {
      bind(target, 0, 64);
    }
    assertThat(bind(target, 0, 64)).isEqualTo(first);
    assertThat(write(target, 0, 8, first)).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void anUnboundWindowRefusesThePeer() {
    int bound = bind(target, 0, 64);
    window.unbind(loopback.b.queuePair, 8, true);
    assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(window.remoteKey()).isNotEqualTo(bound);
    assertThat(write(target, 0, 8, window.remoteKey()))
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void aWindowThatIsNotBoundCannotBeUnbound() {
    assertThatThrownBy(() -> window.unbind(loopback.b.queuePair, 8, true))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is not bound");
  }

  @Test
  void closingTheWindowEndsTheAccessOfThePeer() {
    int key = bind(target, 0, 64);
    window.close();
    assertThat(write(target, 0, 8, key)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    assertThat(target.localKey()).isNotZero();
  }

  @Test
  void closingARegionClosesTheWindowBoundToIt() {
    bind(target, 0, 64);
    target.close();
    assertThatThrownBy(window::remoteKey)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("memory window");
  }

  @Test
  void closingARegionLeavesAWindowThatIsBoundElsewhere() {
    MemoryRegion other = bindable();
    bind(target, 0, 64);
    int key = bind(other, 0, 64);
    target.close();
    assertThat(write(other, 0, 8, key)).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void closingARegionLeavesAWindowThatWasUnbound() {
    bind(target, 0, 64);
    window.unbind(loopback.b.queuePair, 8, true);
    loopback.b.await(1);
    target.close();
    bind(bindable(), 0, 64);
  }

  @Test
  void aRegionClosesWhileItsWindowIsBeingBoundElsewhere() {
    bind(target, 0, 64);
    // As if a bind to another region was posted, but the device had not done it yet.
    window.requested(bindable(), new BoundWindows(), window.nextKey());
    target.close();
    assertThatThrownBy(window::remoteKey).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void windowsAndRegionsCanBeClosedInAnyOrder() {
    for (int round = 0; round < 10; round++) {
      MemoryRegion region = bindable();
      MemoryWindow one = loopback.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
      MemoryWindow two = loopback.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
      for (MemoryWindow each : new MemoryWindow[] {one, two}) {
        each.bind(loopback.b.queuePair, 1, region.slice(0, 64), true, AccessFlag.REMOTE_READ);
        loopback.b.await(1);
      }
      (round % 2 == 0 ? one : two).close();
      region.close();
    }
  }

  @Test
  void closingTheDomainClosesBoundWindowsAndTheirRegions() {
    bind(target, 0, 64);
    loopback.domain.close();
    assertThatThrownBy(window::handle).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(target::handle).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theKeyCanBeRestoredAfterAFailedBind() {
    int bound = bind(target, 0, 64);
    loopback.b.queuePair.toError();
    window.bind(loopback.b.queuePair, 9, target.slice(0, 64), true, AccessFlag.REMOTE_WRITE);
    assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.FLUSHED);
    assertThat(window.remoteKey()).isNotEqualTo(bound);
    window.bindFailed();
    assertThat(window.remoteKey()).isEqualTo(bound);
    // The queue pair of the other side still works, and the device still accepts the old key.
    window.bind(loopback.a.queuePair, 10, target.slice(0, 64), true, AccessFlag.REMOTE_WRITE);
    assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void anUnsignaledBindProducesNoCompletion() {
    window.bind(loopback.b.queuePair, 1, target.slice(0, 64), false, AccessFlag.REMOTE_WRITE);
    int key = bind(target, 0, 64);
    assertThat(write(target, 0, 8, key)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(loopback.b.completions.poll()).isZero();
  }

  @Test
  void aQueuePairOfDatagramsBindsNoWindow() {
    bind(target, 0, 64);
    QueuePair datagrams =
        loopback.domain.createQueuePair(QueuePairConfig.datagram(loopback.b.queue));
    datagrams.startDatagrams(1, 0, 0x1234);
    assertThatThrownBy(() -> window.bind(datagrams, 1, target.slice(0, 64), true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("type UNRELIABLE_DATAGRAM");
    assertThatThrownBy(() -> window.unbind(datagrams, 1, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("type UNRELIABLE_DATAGRAM");
  }

  @Test
  void aWindowOfType2IsRefused() {
    MemoryWindow second = loopback.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
    assertThatThrownBy(() -> second.bind(loopback.b.queuePair, 1, target.slice(0, 64), true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("TYPE_2");
    assertThatThrownBy(() -> second.unbind(loopback.b.queuePair, 1, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("TYPE_2");
  }

  @Test
  void whatTheRegionDoesNotAllowIsRefusedBeforeThePost() {
    MemoryRegion notBindable = loopback.domain.register(64, AccessFlag.LOCAL_WRITE);
    MemoryRegion readOnly = loopback.domain.register(64, AccessFlag.MEMORY_WINDOW_BIND);
    refused(notBindable.slice(0, 64), "MEMORY_WINDOW_BIND", AccessFlag.REMOTE_READ);
    refused(readOnly.slice(0, 64), "LOCAL_WRITE", AccessFlag.REMOTE_WRITE);
    refused(target.slice(0, 0), "length of the part is 0", AccessFlag.REMOTE_READ);
    refused(target.slice(0, 64), "access is [LOCAL_WRITE]", AccessFlag.LOCAL_WRITE);
    try (ProtectionDomain other = loopback.device.allocateProtectionDomain()) {
      MemoryRegion foreign = other.register(64, AccessFlag.MEMORY_WINDOW_BIND);
      refused(foreign.slice(0, 64), "another domain", AccessFlag.REMOTE_READ);
      MemoryWindow foreignWindow = other.allocateMemoryWindow(MemoryWindowType.TYPE_1);
      assertThatThrownBy(
              () -> foreignWindow.bind(loopback.b.queuePair, 1, foreign.slice(0, 64), true))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another domain");
    }
    assertThat(loopback.b.completions.poll()).isZero();
    assertThat(loopback.b.queuePair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
  }

  private void refused(MemorySlice part, String message, AccessFlag access) {
    assertThatThrownBy(() -> window.bind(loopback.b.queuePair, 1, part, true, access))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aQueuePairThatIsNotReadyRefusesABind() {
    CompletionQueue queue = loopback.device.createCompletionQueue(16);
    QueuePair fresh = loopback.domain.createQueuePair(QueuePairConfig.reliable(queue));
    assertThatThrownBy(
            () -> window.bind(fresh, 1, target.slice(0, 64), true, AccessFlag.REMOTE_READ))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("connect");
  }

  @Test
  void useAfterCloseIsRefused() {
    MemorySlice part = target.slice(0, 64);
    window.close();
    window.close();
    for (Runnable use :
        new Runnable[] {
          window::remoteKey,
          window::handle,
          window::bindFailed,
          () -> window.bind(loopback.b.queuePair, 1, part, true, AccessFlag.REMOTE_READ),
          () -> window.unbind(loopback.b.queuePair, 1, true)
        }) {
      assertThatThrownBy(use::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("memory window");
    }
  }
}
