package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.address.Gid;

/** Unreliable connections, which do not acknowledge messages. */
@Tag("device")
@Tag("needs-unreliable-connections")
@Tag("data-path")
@Tag("in-place")
final class UnreliableConnectionTest {
  private Loopback loopback;

  @BeforeEach
  void connect() {
    loopback =
        Loopback.connected(
            config ->
                QueuePairConfig.unreliable(Objects.requireNonNull(config.sendCompletions()))
                    .sendDepth(Loopback.DEPTH)
                    .receiveDepth(Loopback.DEPTH),
            path -> path.access(AccessFlag.REMOTE_WRITE));
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @Test
  void aMessageArrives() {
    loopback.b.receive(3, 0, 64);
    loopback.a.sends.add(4).sendWithImmediate(5).from(loopback.a.region, 0, 17).signaled();
    loopback.a.sends.post();

    Loopback.Done received = loopback.b.await(1).getFirst();
    assertThat(received.length()).isEqualTo(17);
    assertThat(received.immediate()).isEqualTo(5);
    assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void aSendThatNobodyReceivesSucceeds() {
    loopback.a.sends.add(4).from(loopback.a.region, 0, 17).signaled();
    loopback.a.sends.post();
    assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void readsAndAtomicsAreRefused() {
    loopback.a.sends.add(1);
    assertThatThrownBy(() -> loopback.a.sends.read(0, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("UNRELIABLE_CONNECTION");
    assertThatThrownBy(() -> loopback.a.sends.fetchAndAdd(0, 0, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theTypeIsReturned() {
    assertThat(loopback.a.queuePair.type()).isEqualTo(QueuePairType.UNRELIABLE_CONNECTION);
    assertThat(loopback.a.queuePair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    assertThat(loopback.a.queuePair.query().remoteQueuePairNumber())
        .isEqualTo(loopback.b.queuePair.number());
  }

  @Test
  void datagramsAreRefused() {
    assertThatThrownBy(() -> loopback.a.queuePair.startDatagrams(1, 0, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("connect");
    assertThatThrownBy(() -> loopback.a.queuePair.attachMulticast(Gid.ZERO, 0))
        .isInstanceOf(IllegalStateException.class);
  }
}
