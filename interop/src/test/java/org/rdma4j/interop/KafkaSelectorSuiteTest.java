package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.network.SelectorTest;
import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;
import org.rdma4j.nio.ChannelStatistics;

/**
 * Kafka's own tests of its selector, as they are in its jar. The servers in it use {@link
 * java.net.ServerSocket}, which knows no provider. So all of its channels stay with TCP, where RDMA
 * could be used, too: after a try that the server does not answer.
 */
@Suite
@SelectClasses(SelectorTest.class)
final class KafkaSelectorSuiteTest {
  private KafkaSelectorSuiteTest() {}

  @AfterSuite
  static void bytesWentOverTcp() {
    ChannelStatistics done = Way.statistics();
    System.out.println(done);
    assertThat(done.upgraded()).isZero();
    if (Way.isRdma()) {
      assertThat(done.stayed()).isPositive();
    } else {
      assertThat(done.stayed()).isZero();
    }
  }
}
