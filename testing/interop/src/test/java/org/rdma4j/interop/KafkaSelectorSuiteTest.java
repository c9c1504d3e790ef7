package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.kafka.common.network.SelectorTest;
import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.BeforeSuite;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;
import org.rdma4j.nio.ChannelStatistics;

/**
 * Kafka's own tests of its selector, as they are in its jar. The servers in it use {@link
 * java.net.ServerSocket}, which knows no provider. So all of its channels stay with TCP, where RDMA
 * could be used, too. Most of them end while the client still tries, and count as neither.
 */
@Suite
@SelectClasses(SelectorTest.class)
final class KafkaSelectorSuiteTest {
  /** What the channels of other tests did in this JVM. */
  private static ChannelStatistics before = new ChannelStatistics(0, 0, 0, 0, 0, 0, 0, 0, Map.of());

  private KafkaSelectorSuiteTest() {}

  @BeforeSuite
  static void begin() {
    before = Way.statistics();
  }

  @AfterSuite
  static void bytesWentOverTcp() {
    ChannelStatistics done = Way.statistics();
    System.out.println(done);
    assertThat(done.upgraded()).isEqualTo(before.upgraded());
    if (!Way.isRdma()) {
      assertThat(done.stayed()).isZero();
    }
  }
}
