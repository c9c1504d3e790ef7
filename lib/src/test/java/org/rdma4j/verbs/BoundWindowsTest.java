package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory windows of type 2, bound and invalidated by work requests. */
@Tag("device")
@Tag("needs-memory-windows")
@Tag("data-path")
@SuppressWarnings("NullAway.Init") // connect
final class BoundWindowsTest {
  private Loopback loopback;
  private MemoryRegion region;
  private MemoryWindow window;

  /** Connects the sides: b binds a window to its region, and a writes through the window. */
  private void connect(boolean extended) {
    loopback =
        Loopback.connected(
            config -> extended ? config.extended(Loopback.operations()) : config,
            path -> path.access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
    region = loopback.domain.register(4096, AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND);
    window = loopback.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private void bind() {
    bind(AccessFlag.REMOTE_WRITE);
  }

  private void bind(AccessFlag access) {
    loopback.b.sends.add(1).bind(window, region.slice(64, 64), access).signaled();
    loopback.b.sends.post();
    assertThat(loopback.b.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  private CompletionStatus write(int key) {
    loopback.a.region.segment().set(JAVA_LONG, 0, 99);
    loopback.a.sends.add(2).write(region.remoteAddress() + 64, key);
    loopback.a.sends.from(loopback.a.region, 0, 8).signaled();
    loopback.a.sends.post();
    return loopback.a.await(1).getFirst().status();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeerWritesThroughABoundWindow(boolean extended) {
    connect(extended);
    bind();
    assertThat(write(window.remoteKey())).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(region.segment().get(JAVA_LONG, 64)).isEqualTo(99);
  }

  private void invalidate() {
    loopback.b.sends.add(3).invalidate(window.remoteKey()).signaled();
    loopback.b.sends.post();
    loopback.b.await(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInvalidatedWindowRefusesThePeer(boolean extended) {
    connect(extended);
    bind();
    invalidate();
    assertThat(write(window.remoteKey())).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInvalidatedWindowCanBeBoundAgain(boolean extended) {
    connect(extended);
    bind();
    int first = window.remoteKey();
    invalidate();
    bind();
    assertThat(write(window.remoteKey())).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(write(first)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWindowForReadingRefusesWrites(boolean extended) {
    connect(extended);
    bind(AccessFlag.REMOTE_READ);
    assertThat(write(window.remoteKey())).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void thePeerCanInvalidateAWindow(boolean extended) {
    connect(extended);
    bind();
    loopback.b.receive(5, 0, 64);
    loopback.a.sends.add(4).sendWithInvalidate(window.remoteKey()).signaled();
    loopback.a.sends.post();
    loopback.b.await(1);
    // The flag of the completion is not checked: the kernel's soft-RoCE sets another bit than
    // libibverbs
    // defines.
    assertThat(loopback.b.completions.invalidatedKey(0)).isEqualTo(window.remoteKey());
    loopback.a.await(1);
    assertThat(write(window.remoteKey())).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void eachBindChangesTheKey() {
    connect(false);
    int before = window.remoteKey();
    bind();
    assertThat(window.remoteKey()).isNotEqualTo(before);
  }

  @Test
  void aClosedWindowRefusesThePeer() {
    connect(false);
    bind();
    int bound = window.remoteKey();
    window.close();
    assertThat(write(bound)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void closingTheQueuePairClosesTheWindowsItBound() {
    connect(false);
    bind();
    loopback.b.queuePair.close();
    assertThatThrownBy(window::remoteKey)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("memory window");
  }

  @Test
  void droppedBindsChangeNothing() {
    connect(false);
    bind();
    int bound = window.remoteKey();
    MemoryRegion other = loopback.domain.register(64, AccessFlag.MEMORY_WINDOW_BIND);
    loopback.b.sends.add(1).bind(window, other.slice(0, 64), AccessFlag.REMOTE_READ);
    loopback.b.sends.add(2).bind(window, other.slice(0, 64), AccessFlag.REMOTE_READ);
    loopback.b.sends.clear();
    other.close();
    assertThat(window.remoteKey()).isEqualTo(bound);
    assertThat(write(bound)).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void aBindOfAClosedWindowIsNotPosted() {
    connect(false);
    loopback.b.sends.add(1).bind(window, region.slice(0, 64), AccessFlag.REMOTE_READ);
    window.close();
    assertThatThrownBy(() -> loopback.b.sends.post())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("memory window");
  }

  @Test
  void aBindToAClosedRegionIsNotPosted() {
    connect(false);
    loopback.b.sends.add(1).bind(window, region.slice(0, 64), AccessFlag.REMOTE_READ);
    region.close();
    assertThatThrownBy(() -> loopback.b.sends.post())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void aWindowOfType1IsRefused() {
    connect(false);
    try (MemoryWindow type1 = loopback.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
      loopback.b.sends.add(1);
      assertThatThrownBy(() -> loopback.b.sends.bind(type1, region.slice(0, 64)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("TYPE_2");
    }
  }
}
