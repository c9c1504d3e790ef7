package org.rdma4j.interop;

import org.apache.kafka.common.network.SelectorTest;
import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Kafka's own tests of its selector, as they are in its jar. */
@Suite
@SelectClasses(SelectorTest.class)
final class KafkaSelectorSuiteTest {
  private KafkaSelectorSuiteTest() {}

  @AfterSuite
  static void bytesWentTheirWay() {
    Way.check();
  }
}
