package org.rdma4j.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.nio.RdmaSelectorProvider;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.testing.OwnJvm;

/**
 * Meters of real channels. In an emulated guest, these would take more than a minute for their
 * upgrades and show nothing else.
 */
@Tag("mlx5")
@Timeout(200)
final class ChannelMetersTest {
  @Test
  void aScrapeHasTheChannelsThatHaveGoneOver() throws Exception {
    String scrape =
        OwnJvm.run(
            EchoingChannels.class,
            Duration.ofSeconds(150),
            List.of(
                "-D%s=%s"
                    .formatted(
                        SelectorProvider.class.getName(), RdmaSelectorProvider.class.getName()),
                "-Dorg.rdma4j.nio.addressMap=127.0.0.1=" + DeviceAddress.ipv4().getHostAddress(),
                "-Dorg.rdma4j.nio.devices=all",
                "-Dorg.rdma4j.nio.upgradeAfterBytes=32",
                "-Dorg.rdma4j.nio.timeoutSeconds=60",
                "-Dorg.rdma4j.nio.retryDelaySeconds=1"),
            Map.of());
    for (String figure :
        List.of("upgrades_total{outcome=\"upgraded\"}", "bytes_total{direction=\"received\"}")) {
      assertThat(scrape).contains("rdma4j_channel_" + figure);
      assertThat(scrape).doesNotContain("rdma4j_channel_" + figure + " 0.0");
    }
  }
}
