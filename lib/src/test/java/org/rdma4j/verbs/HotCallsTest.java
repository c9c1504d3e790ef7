package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The handshake between a thread inside a call and the one that closes the queue. */
@Timeout(120)
final class HotCallsTest {
  private static final int ROUNDS = 20_000;

  @Test
  void noThreadIsInsideACallOnceTheRightIsRevoked() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      AtomicBoolean freed = new AtomicBoolean();
      HotCalls calls = new HotCalls();
      HotCall call = calls.grant("test");
      CountDownLatch running = new CountDownLatch(1);
      FutureTask<Boolean> user =
          new FutureTask<>(
              () -> {
                running.countDown();
                boolean crashed = false;
                while (!crashed) {
                  int entered;
                  try {
                    entered = call.enter();
                  } catch (IllegalStateException closed) {
                    return false;
                  }
                  crashed = freed.getPlain();
                  Thread.onSpinWait();
                  crashed |= freed.getPlain();
                  call.leave(entered);
                }
                return true;
              });
      Thread.ofPlatform().start(user);
      assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
      calls.revoke();
      freed.set(true);
      assertThat(user.get(30, TimeUnit.SECONDS)).as("used after it was freed").isFalse();
    }
  }

  @Test
  void revokingWaitsForTheThreadInside() throws Exception {
    HotCalls calls = new HotCalls();
    HotCall call = calls.grant("test");
    int entered = call.enter();
    FutureTask<Void> revoking = new FutureTask<>(calls::revoke, null);
    Thread.ofPlatform().start(revoking);
    Thread.sleep(50);
    assertThat(revoking.isDone()).isFalse();
    call.leave(entered);
    revoking.get(30, TimeUnit.SECONDS);
    assertThatThrownBy(call::enter)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(call::check).hasMessageContaining("closed");
    assertThatThrownBy(call::release).hasMessageContaining("closed");
  }

  @Test
  void aThreadThatIsRefusedLeavesTheOwnersMarkAlone() throws Exception {
    HotCalls calls = new HotCalls();
    HotCall call = calls.grant("test");
    int entered = call.enter();
    FutureTask<Integer> stranger = new FutureTask<>(call::enter);
    Thread.ofPlatform().start(stranger);
    assertThatThrownBy(() -> stranger.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class);
    FutureTask<Void> revoking = new FutureTask<>(calls::revoke, null);
    Thread.ofPlatform().start(revoking);
    Thread.sleep(50);
    assertThat(revoking.isDone()).isFalse();
    call.leave(entered);
    revoking.get(30, TimeUnit.SECONDS);
  }

  @Test
  void rightsThatNobodyHoldsAreForgotten() {
    HotCalls calls = new HotCalls();
    List<HotCall> held = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      HotCall call = calls.grant("test");
      if (i % 1000 == 0) {
        held.add(call);
        System.gc();
      }
    }
    calls.grant("last");
    assertThat(calls.size()).isLessThan(2000);
    calls.revoke();
    assertThat(held).allSatisfy(call -> assertThatThrownBy(call::check).isNotNull());
  }
}
