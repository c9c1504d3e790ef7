package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class TurnsTest {
  private final Turns<String> turns = new Turns<>(2);

  private void begin(String server) throws Exception {
    var unused = waitFor(server).get();
  }

  /** Waits for a turn in another thread. */
  private ChannelPair.Waiting<Boolean> waitFor(String server) throws Exception {
    return ChannelPair.waiting(
        () -> {
          turns.begin(server);
          return true;
        });
  }

  @Test
  void oneMoreThanTheMaximumWaitsUntilATurnEnds() throws Exception {
    begin("slow");
    begin("slow");
    var third = waitFor("slow");
    assertThat(third.task().isDone()).isFalse();
    turns.end("slow");
    assertThat(third.get()).isTrue();
    turns.end("slow");
    turns.end("slow");
    assertThat(turns.servers()).isZero();
  }

  @Test
  void aServerDelaysNoOther() throws Exception {
    begin("slow");
    begin("slow");
    begin("quick");
    assertThat(turns.servers()).isEqualTo(2);
    turns.end("quick");
    assertThat(turns.servers()).isEqualTo(1);
  }

  @Test
  void aThreadThatDoesNotWaitGetsATurnIfOneIsFree() throws Exception {
    begin("slow");
    assertThat(turns.tryBegin("slow")).isTrue();
    assertThat(turns.tryBegin("slow")).isFalse();
    turns.end("slow");
    turns.end("slow");
    assertThat(turns.servers()).isZero();
  }

  @Test
  void aThreadThatIsInterruptedWaitsNoLonger() throws Exception {
    begin("slow");
    begin("slow");
    var third = waitFor("slow");
    third.thread().interrupt();
    assertThatThrownBy(third::get).hasCauseInstanceOf(InterruptedException.class);
    turns.end("slow");
    turns.end("slow");
    assertThat(turns.servers()).isZero();
  }
}
