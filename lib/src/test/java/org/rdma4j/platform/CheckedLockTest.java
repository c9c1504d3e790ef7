package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

final class CheckedLockTest {
  private final ReentrantLock link = new CheckedLock(LockOrder.LINK);
  private final ReentrantLock pool = new CheckedLock(LockOrder.BUFFER_POOL);

  @Test
  void aThreadThatBreaksTheOrderFailsAlthoughTheLockIsFree() {
    holding(pool, () -> assertThatThrownBy(link::lock).hasMessageContaining("LINK while"));
    holding(pool, () -> assertThatThrownBy(link::lockInterruptibly).hasMessageContaining("LINK"));
    assertThatCode(() -> holding(link, () -> holding(pool, () -> {}))).doesNotThrowAnyException();
  }

  @Test
  void aThreadMayTakeALockAgainAndTryAny() {
    holding(link, () -> holding(pool, () -> holding(link, () -> {})));
    holding(
        pool,
        () -> {
          link.tryLock();
          link.unlock();
        });
  }

  @Test
  void twoConnectionsAreNotLockedTogether() {
    ReentrantLock other = new CheckedLock(LockOrder.LINK);
    holding(link, () -> assertThatThrownBy(other::lock).isInstanceOf(AssertionError.class));
  }

  @Test
  void codeOfUsersDoesNotRunWhileALockIsHeldThatOthersNeed() {
    CheckedLock.checkHeldUpTo(LockOrder.POLLING_TURN);
    holding(
        new CheckedLock(LockOrder.POLLING_TURN),
        () -> CheckedLock.checkHeldUpTo(LockOrder.POLLING_TURN));
    holding(
        link,
        () ->
            assertThatThrownBy(() -> CheckedLock.checkHeldUpTo(LockOrder.POLLING_TURN))
                .hasMessageContaining("LINK"));
  }

  private static void holding(ReentrantLock lock, Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }
}
