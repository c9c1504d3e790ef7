package org.rdma4j.interop;

import org.apache.activemq.broker.BrokerService;

/** A broker of ActiveMQ Classic that keeps its messages in memory. */
final class ActiveMqBroker {
  private ActiveMqBroker() {}

  /** Takes its port. */
  public static void main(String[] args) throws Exception {
    BrokerService broker = new BrokerService();
    broker.setPersistent(false);
    broker.setUseJmx(false);
    broker.addConnector(address(args[0]));
    broker.start();
    broker.waitUntilStopped();
  }

  /** Returns where the broker listens, with its connector for channels. */
  static String address(String port) {
    return "nio://127.0.0.1:" + port;
  }
}
