package org.rdma4j.interop;

import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.ExcludeClassNamePatterns;
import org.junit.platform.suite.api.IncludeClassNamePatterns;
import org.junit.platform.suite.api.SelectPackages;
import org.junit.platform.suite.api.Suite;

/** Netty's own tests of its NIO transport, as they are in its jar. */
@Suite
@SelectPackages("io.netty.testsuite.transport.socket")
@IncludeClassNamePatterns(".*\\.(Socket|ServerSocket|WriteBefore|Composite|Traffic).*Test")
// SocketConnectionAttemptTest needs a network that drops packets: it fails with the JDK's channels
// on a machine without one, too.
@ExcludeClassNamePatterns({".*\\.Abstract.*", ".*\\.SocketConnectionAttemptTest"})
final class NettySuiteTest {
  private NettySuiteTest() {}

  @AfterSuite
  static void bytesWentTheirWay() {
    Way.check();
  }
}
