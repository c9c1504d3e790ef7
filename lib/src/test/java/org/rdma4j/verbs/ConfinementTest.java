package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The objects of the data path belong to a thread. */
@Tag("device")
@Tag("in-place")
final class ConfinementTest {
  private Loopback loopback;

  @BeforeEach
  void connect() {
    loopback = Loopback.connected();
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @Test
  void theFirstThreadThatUsesAnObjectOwnsIt() throws Exception {
    assertThat(elsewhere(() -> loopback.a.sends.add(1).size())).isEqualTo(1);
    assertThatThrownBy(() -> loopback.a.sends.add(2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("SendRequests belongs to thread \"elsewhere\"")
        .hasMessageContaining("release()");
    assertThat(loopback.a.sends.size()).isEqualTo(1);
  }

  @Test
  void anotherThreadCanNeitherBuildNorPostNorPollNorRelease() {
    loopback.a.sends.add(1);
    loopback.a.receives.add(1);
    loopback.a.completions.poll();
    for (Callable<?> use :
        new Callable<?>[] {
          () -> loopback.a.sends.add(2),
          () -> loopback.a.sends.signaled(),
          () -> loopback.a.sends.from(loopback.a.region, 0, 1),
          loopback.a.sends::post,
          () -> loopback.a.receives.into(loopback.a.region, 0, 1),
          loopback.a.receives::post,
          loopback.a.completions::poll,
          () -> {
            loopback.a.completions.release();
            return null;
          }
        }) {
      assertThatThrownBy(() -> elsewhere(use))
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining("belongs to thread");
    }
    loopback.b.receive(3, 0, 8);
    assertThat(loopback.a.sends.post()).isEqualTo(1);
    loopback.b.await(1);
  }

  @Test
  void aReleasedObjectBelongsToTheNextThread() throws Exception {
    loopback.b.receive(3, 0, 8);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 5);
    loopback.a.sends.release();
    assertThat(elsewhere(loopback.a.sends::post)).isEqualTo(1);
    assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(5);
  }

  @Test
  void twoThreadsPostToOneQueuePairWithTheirOwnRequests() throws Exception {
    for (int i = 0; i < 16; i++) {
      loopback.b.receives.add(i).into(loopback.b.region, 0, 64);
    }
    loopback.b.receives.post();
    Callable<Integer> eight =
        () -> {
          SendRequests requests = loopback.a.queuePair.sendRequests(1);
          int posted = 0;
          for (int i = 0; i < 8; i++) {
            posted += requests.add(i).from(loopback.a.region, 0, 8).post();
          }
          return posted;
        };
    FutureTask<Integer> other = new FutureTask<>(eight);
    Thread.ofPlatform().start(other);
    assertThat(eight.call()).isEqualTo(8);
    assertThat(other.get(30, TimeUnit.SECONDS)).isEqualTo(8);
    assertThat(loopback.b.await(16))
        .extracting(Loopback.Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
  }

  private static <T> T elsewhere(Callable<T> body) throws Exception {
    FutureTask<T> task = new FutureTask<>(body);
    Thread.ofPlatform().name("elsewhere").start(task);
    return task.get(30, TimeUnit.SECONDS);
  }
}
