package org.rdma4j.interop;

import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/** A broker of ActiveMQ Artemis that keeps its messages in memory. */
final class ArtemisBroker {
  private ArtemisBroker() {}

  /** Returns where the broker listens, with the option that both sides need for Netty's NIO. */
  static String address(int port) {
    return "tcp://127.0.0.1:" + port + "?useEpoll=false";
  }

  /** Takes its port. */
  public static void main(String[] args) throws Exception {
    new EmbeddedActiveMQ()
        .setConfiguration(
            new ConfigurationImpl()
                .setPersistenceEnabled(false)
                .setSecurityEnabled(false)
                .addAcceptorConfiguration("core", address(Integer.parseInt(args[0]))))
        .start();
  }
}
