package org.rdma4j.interop;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.testsuite.transport.socket.SocketStringEchoTest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.BeforeSuite;
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

  /**
   * Runs one test before the others. They wait 5 s for each other's threads, and a JVM that has
   * just started in a guest needs more than that to load Netty.
   */
  @BeforeSuite
  static void loadNetty() throws Throwable {
    EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try {
      new SocketStringEchoTest()
          .testStringEcho(
              new ServerBootstrap()
                  .group(loop)
                  .channel(NioServerSocketChannel.class)
                  .localAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
              new Bootstrap().group(loop).channel(NioSocketChannel.class));
    } finally {
      loop.shutdownGracefully().sync();
    }
  }

  @AfterSuite
  static void bytesWentTheirWay() {
    Way.check();
  }
}
