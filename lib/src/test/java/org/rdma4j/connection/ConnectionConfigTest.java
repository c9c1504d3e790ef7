package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class ConnectionConfigTest {
  @Test
  void eachMethodChangesItsOwnValueAlone() {
    ConnectionConfig config =
        ConnectionConfig.DEFAULT
            .messageBytes(1)
            .receives(2)
            .sends(3)
            .closeTimeout(Duration.ofSeconds(4));
    assertThat(config).isEqualTo(new ConnectionConfig(1, 2, 3, Duration.ofSeconds(4)));
  }

  @Test
  void aNumberOutOfItsRangeIsRefusedWithTheRange() {
    assertThatThrownBy(() -> ConnectionConfig.DEFAULT.receives(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("receives is 0, must be from 1 to 16384");
    assertThatThrownBy(() -> ConnectionConfig.DEFAULT.closeTimeout(Duration.ofNanos(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
