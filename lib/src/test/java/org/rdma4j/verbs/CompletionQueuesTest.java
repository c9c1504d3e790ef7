package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.RdmaException;

/** The length of completion queues: creation and resizing. */
@Tag("device")
final class CompletionQueuesTest {
  private RdmaDevice device;

  @BeforeEach
  void open() {
    device = Loopback.openDevice();
  }

  @AfterEach
  void close() {
    device.close();
  }

  enum Kind {
    PLAIN,
    WITH_A_CHANNEL,
    EXTENDED;

    CompletionQueueConfig of(RdmaDevice device, int entries) {
      CompletionQueueConfig config = CompletionQueueConfig.of(entries);
      return switch (this) {
        case PLAIN -> config;
        case WITH_A_CHANNEL -> config.channel(device.createCompletionChannel());
        case EXTENDED -> config.extended();
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void anyLengthThatTheDeviceAllowsIsGranted(Kind kind) {
    int max = device.attributes().maxCompletionQueueEntries();
    for (int entries : new int[] {1, max / 2, max}) {
      try (CompletionQueue queue = device.createCompletionQueue(kind.of(device, entries))) {
        assertThat(queue.capacity()).isGreaterThanOrEqualTo(entries);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aLengthThatTheDeviceDoesNotAllowIsRefused(Kind kind) {
    int max = device.attributes().maxCompletionQueueEntries();
    assertThatThrownBy(() -> device.createCompletionQueue(kind.of(device, max + 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("entries is %d, must be from 1 to %d", max + 1, max);
  }

  @ParameterizedTest
  @EnumSource
  void aVectorThatTheDeviceDoesNotHaveIsRefused(Kind kind) {
    int vectors = device.completionVectors();
    assertThatThrownBy(() -> device.createCompletionQueue(kind.of(device, 1).vector(vectors)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("vector is " + vectors);
    device.createCompletionQueue(kind.of(device, 1).vector(vectors - 1)).close();
  }

  @Tag("needs-resizing-completion-queues")
  @Test
  void aQueueCanBeMadeShorterAndLonger() {
    CompletionQueue queue = device.createCompletionQueue(3);
    queue.resize(1);
    assertThat(queue.capacity()).isBetween(1, 2);
    queue.resize(7);
    assertThat(queue.capacity()).isGreaterThanOrEqualTo(7);
  }

  @Tag("needs-resizing-completion-queues")
  @Test
  void aQueueCannotBeMadeShorterThanTheCompletionsInIt() {
    try (Loopback loopback = Loopback.connected(config -> config.mayOverrun(true))) {
      for (int i = 0; i < 2; i++) {
        loopback.b.receive(i, 0, 64);
        loopback.a.sends.add(i).signaled();
      }
      loopback.a.sends.post();
      loopback.a.await(2);

      assertThatThrownBy(() -> loopback.b.queue.resize(1))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ibv_resize_cq(1 entries)")
          .hasMessageContaining("EINVAL");
      assertThat(loopback.b.await(2)).extracting(Loopback.Done::id).containsExactly(0L, 1L);
    }
  }
}
