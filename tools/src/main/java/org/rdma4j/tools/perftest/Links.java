package org.rdma4j.tools.perftest;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.StaticRate;
import org.rdma4j.verbs.attribute.Mtu;

/** Creates queue pairs, and connects them with the addresses that both sides exchange. */
final class Links {
  /** The queue key of perftest. */
  private static final int QUEUE_KEY = 0x1111_1111;

  private static final int HOP_LIMIT = 255;

  private Links() {}

  /**
   * How queue pairs are connected.
   *
   * @param mtu the path MTU
   * @param serviceLevel the service level
   * @param trafficClass the traffic class
   * @param timeout the exponent of the time after which a message is sent again
   */
  record Path(Mtu mtu, int serviceLevel, int trafficClass, int timeout) {}

  /** Creates the queue pairs, which are not connected. */
  static List<TestLink> create(Resources resources, Settings settings) {
    List<TestLink> links = new ArrayList<>();
    for (int i = 0; i < settings.queuePairs(); i++) {
      QueuePair queuePair = resources.domain().createQueuePair(resources.queuePairConfig());
      int port = resources.port().number();
      if (settings.transport() == Transport.UD) {
        queuePair.initializeDatagrams(port, 0, QUEUE_KEY);
      } else {
        queuePair.initialize(port, 0, settings.program().verb().access());
      }
      links.add(new TestLink(i, queuePair));
    }
    return links;
  }

  /** Connects a queue pair with that of the peer. */
  static void connect(TestLink link, Resources resources, Settings settings, Path path) {
    PathConfig config =
        PathConfig.to(link.remote().address())
            .port(resources.port().number())
            .gidIndex(resources.port().gidIndex())
            .mtu(path.mtu())
            .serviceLevel(path.serviceLevel())
            .trafficClass(path.trafficClass())
            .hopLimit(HOP_LIMIT)
            .minimumRnrTimer(12)
            .timeout(path.timeout())
            .retries(7)
            .rnrRetries(7)
            .remoteReads(resources.reads())
            .reads(Math.min(link.remote().reads(), resources.reads()));
    if (settings.transport() == Transport.UD) {
      link.queuePair().startDatagrams(config.port(), 0, QUEUE_KEY);
      link.sendTo(
          resources.domain().createAddressHandle(vector(config)),
          link.remote().address().queuePairNumber(),
          QUEUE_KEY);
    } else {
      link.queuePair().connect(config);
    }
  }

  private static AddressVector vector(PathConfig path) {
    GlobalRoute route =
        path.gidIndex() == PathConfig.NO_GID
            ? null
            : new GlobalRoute(
                path.remote().gid(), path.gidIndex(), 0, path.hopLimit(), path.trafficClass());
    return new AddressVector(
        path.port(), path.remote().lid(), path.serviceLevel(), 0, StaticRate.UNLIMITED, route);
  }
}
