package org.rdma4j.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.AccessFlag;

/** What is refused before a device is opened or a peer is contacted. */
final class EndpointConfigTest {
  private static final EndpointConfig DEFAULT = EndpointConfig.DEFAULT;

  @Test
  void aNumberOutOfItsRangeIsRefusedWithItsName() {
    assertThatThrownBy(() -> DEFAULT.port(0)).hasMessage("port is 0, must be at least 1");
    assertThatThrownBy(() -> DEFAULT.gidIndex(-1)).hasMessage("gidIndex is -1, must be at least 0");
    assertThatThrownBy(() -> DEFAULT.bufferBytes(0))
        .hasMessage("bufferBytes is 0, must be at least 1");
    assertThatThrownBy(() -> DEFAULT.sendDepth(0)).hasMessage("sendDepth is 0, must be at least 1");
    assertThatThrownBy(() -> DEFAULT.receiveDepth(-5))
        .hasMessage("receiveDepth is -5, must be at least 1");
  }

  @Test
  void onlyRemoteAccessFlagsAreAccepted() {
    assertThat(DEFAULT.remoteAccess()).isEmpty();
    assertThat(DEFAULT.remoteAccess(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_READ).remoteAccess())
        .containsExactly(AccessFlag.REMOTE_READ);
    assertThatThrownBy(() -> DEFAULT.remoteAccess(AccessFlag.LOCAL_WRITE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("LOCAL_WRITE");
  }

  @Test
  void eachMethodChangesItsOwnValueAlone() {
    EndpointConfig changed = DEFAULT.device("x").port(2).gidIndex(3).sendDepth(4).receiveDepth(5);
    assertThat(changed.device()).contains("x");
    assertThat(changed.port()).hasValue(2);
    assertThat(changed.gidIndex()).hasValue(3);
    assertThat(changed.sendDepth()).isEqualTo(4);
    assertThat(changed.receiveDepth()).isEqualTo(5);
    assertThat(changed.bufferBytes()).isEqualTo(DEFAULT.bufferBytes());
  }

  @Test
  void aNegativeTimeoutIsRefused() {
    assertThatThrownBy(() -> Deadline.after(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT-0.001S");
  }

  @Test
  void theLongestTimeoutIsNotOver() {
    assertThat(Deadline.after(Duration.ofSeconds(Long.MAX_VALUE)).nanos()).isPositive();
    assertThat(Deadline.after(Duration.ZERO).isOver()).isTrue();
  }
}
