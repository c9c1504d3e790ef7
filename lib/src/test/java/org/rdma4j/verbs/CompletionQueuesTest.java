package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.RdmaException;

/** The length of completion queues: creation and resizing. */
@Tag("device")
@Tag("in-place")
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

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anyLengthThatTheDeviceAllowsIsGranted(boolean channel) {
    anyLengthIsGranted(entries -> plain(entries, channel));
  }

  @Tag("needs-extended-completion-queues")
  @Test
  void anyLengthThatTheDeviceAllowsIsGrantedToExtendedQueues() {
    anyLengthIsGranted(CompletionQueuesTest::extended);
  }

  private void anyLengthIsGranted(IntFunction<CompletionQueueConfig> config) {
    int max = device.attributes().maxCompletionQueueEntries();
    for (int entries : new int[] {1, max / 2, max}) {
      try (CompletionQueue queue = device.createCompletionQueue(config.apply(entries))) {
        assertThat(queue.capacity()).isGreaterThanOrEqualTo(entries);
      }
    }
  }

  @Test
  void aLengthThatTheDeviceDoesNotAllowIsRefused() {
    int max = device.attributes().maxCompletionQueueEntries();
    for (CompletionQueueConfig config :
        List.of(plain(max + 1, false), plain(max + 1, true), extended(max + 1))) {
      assertThatThrownBy(() -> device.createCompletionQueue(config))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("entries is %d, must be from 1 to %d", max + 1, max);
    }
  }

  @Test
  void aVectorThatTheDeviceDoesNotHaveIsRefused() {
    int vectors = device.completionVectors();
    for (CompletionQueueConfig config : List.of(plain(1, false), plain(1, true), extended(1))) {
      assertThatThrownBy(() -> device.createCompletionQueue(config.vector(vectors)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("vector is " + vectors);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theLastVectorCanBeUsed(boolean channel) {
    int last = device.completionVectors() - 1;
    device.createCompletionQueue(plain(1, channel).vector(last)).close();
  }

  @Tag("needs-extended-completion-queues")
  @Test
  void theLastVectorCanBeUsedByExtendedQueues() {
    int last = device.completionVectors() - 1;
    device.createCompletionQueue(extended(1).vector(last)).close();
  }

  private CompletionQueueConfig plain(int entries, boolean channel) {
    CompletionQueueConfig config = CompletionQueueConfig.of(entries);
    return channel ? config.channel(device.createCompletionChannel()) : config;
  }

  private static CompletionQueueConfig extended(int entries) {
    return CompletionQueueConfig.of(entries).extended();
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
  @Tag("needs-queues-by-provider")
  @Test
  void aQueueCannotBeMadeShorterThanTheCompletionsInIt() {
    try (Loopback loopback = Loopback.connected(config -> config.ignoreOverrun(true))) {
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
