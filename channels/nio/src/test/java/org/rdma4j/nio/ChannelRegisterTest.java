package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** What is known of channels, also of dropped ones. */
final class ChannelRegisterTest {
  private final ChannelRegister register = new ChannelRegister();

  private ChannelRecord add() {
    InetAddress host = InetAddress.getLoopbackAddress();
    return register.add(new InetSocketAddress(host, 1), new InetSocketAddress(host, 2), true);
  }

  @Test
  void aChannelThatWasDroppedIsNotListed() throws Exception {
    ChannelRecord kept = add();
    for (int i = 0; i < 10; i++) {
      add();
    }
    UpgradeTest.await(
        () -> {
          System.gc();
          return register.states().size() == 1;
        });
    kept.closed();
    assertThat(register.states()).isEmpty();
  }

  @Test
  void aChannelCountsForItsFirstReasonAndShowsItsLast() {
    ChannelRecord record = add();
    register.stays(record, StayReason.ONE_DIRECTION, "first");
    register.stays(record, StayReason.NOT_ASKED, "second");
    assertThat(register.stayedByReason())
        .containsEntry("one-direction", 1L)
        .containsEntry("not-asked", 0L);
    assertThat(register.states().getFirst().reason()).isEqualTo("second");
  }
}
