package org.rdma4j.lifetime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class LifetimeTest {
  private final List<String> destroyed = new ArrayList<>();

  private Lifetime lifetime(String name, Lifetime... dependsOn) {
    return new Lifetime(name, () -> destroyed.add(name), dependsOn);
  }

  @Test
  void dependentsAreDestroyedFirstYoungestFirst() {
    Lifetime device = lifetime("device");
    Lifetime domain = lifetime("domain", device);
    Lifetime queue = lifetime("queue", device);
    lifetime("region", domain);
    lifetime("pair", domain, queue);
    lifetime("region 2", domain);

    device.close();

    // The queue is younger than the domain, so its pair goes before the domain's other dependents.
    assertThat(destroyed)
        .containsExactly("pair", "queue", "region 2", "region", "domain", "device");
  }

  @Test
  void anObjectThatIsClosedTwiceIsDestroyedOnce() {
    Lifetime device = lifetime("device");
    Lifetime domain = lifetime("domain", device);
    domain.close();
    domain.close();
    device.close();
    assertThat(destroyed).containsExactly("domain", "device");
  }

  @Test
  void theActionOnCloseRunsAlsoIfTheObjectIsAlreadyClosed() {
    List<String> runs = new ArrayList<>();
    Lifetime later = lifetime("later");
    later.onClose(() -> runs.add("later"));
    assertThat(runs).isEmpty();
    later.close();
    Lifetime before = lifetime("before");
    before.close();
    before.onClose(() -> runs.add("before"));
    assertThat(runs).containsExactly("later", "before");
  }

  @Test
  void aCallWithSeveralObjectsIsRefusedIfOneIsClosed() {
    Lifetime open = lifetime("open");
    Lifetime closed = lifetime("closed");
    closed.close();
    assertThatThrownBy(() -> Lifetime.whileAllOpen(List.of(open, closed), () -> 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed is closed");
    open.close();
    assertThat(destroyed).containsExactly("closed", "open");
  }

  @Test
  void noneOfSeveralObjectsIsDestroyedDuringACallWithThem() throws Exception {
    Lifetime first = lifetime("first");
    Lifetime second = lifetime("second");
    FutureTask<Void> closing = new FutureTask<>(first::close, null);
    List<String> meanwhile =
        Lifetime.whileAllOpen(
            List.of(first, second),
            () -> {
              Thread.ofPlatform().start(closing);
              while (first.isOpen()) {
                Thread.onSpinWait();
              }
              return List.copyOf(destroyed);
            });
    closing.get(30, TimeUnit.SECONDS);
    assertThat(meanwhile).isEmpty();
    assertThat(destroyed).containsExactly("first");
  }

  @Test
  void callsAreRefusedAfterClose() {
    Lifetime device = lifetime("device rxe0");
    assertThat(device.<String>whileOpen(() -> "x")).isEqualTo("x");
    assertThat(device.isOpen()).isTrue();
    device.close();
    assertThat(device.isOpen()).isFalse();
    assertThatThrownBy(() -> device.<String>whileOpen(() -> "x"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("device rxe0 is closed");
  }

  @Test
  void closeWaitsForCallsInProgressAndWakesWaitingThreads() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch woken = new CountDownLatch(1);
    Lifetime channel = new Lifetime("channel", woken::countDown, () -> destroyed.add("channel"));
    FutureTask<Boolean> call =
        new FutureTask<>(
            () ->
                channel.<Boolean>whileOpen(
                    () -> {
                      inside.countDown();
                      return await(woken) && destroyed.isEmpty();
                    }));
    Thread.ofPlatform().start(call);
    assertThat(await(inside)).isTrue();
    channel.close();
    assertThat(destroyed).containsExactly("channel");
    assertThat(call.get(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aSecondCloseReturnsWhenTheObjectIsClosed() throws Exception {
    CountDownLatch destroying = new CountDownLatch(1);
    CountDownLatch mayFinish = new CountDownLatch(1);
    Lifetime slow =
        new Lifetime(
            "slow",
            () -> {
              destroying.countDown();
              await(mayFinish);
              destroyed.add("slow");
            });
    Thread first = Thread.ofPlatform().start(slow::close);
    assertThat(await(destroying)).isTrue();
    FutureTask<List<String>> second =
        new FutureTask<>(
            () -> {
              slow.close();
              return List.copyOf(destroyed);
            });
    Thread.ofPlatform().start(second);
    Thread.sleep(50);
    assertThat(second.isDone()).isFalse();
    mayFinish.countDown();
    assertThat(second.get(30, TimeUnit.SECONDS)).containsExactly("slow");
    first.join();
  }

  @Test
  void aFailedDestructionIsReportedAfterEverythingElseIsClosed() {
    Lifetime device = lifetime("device");
    Lifetime domain = lifetime("domain", device);
    lifetime("region", domain);
    Lifetime stubborn =
        new Lifetime(
            "stubborn",
            () -> {
              throw new IllegalArgumentException("busy");
            },
            domain);
    assertThatThrownBy(device::close).hasMessage("busy");
    assertThat(destroyed).containsExactly("region", "domain", "device");
    assertThat(stubborn.isOpen()).isFalse();
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
