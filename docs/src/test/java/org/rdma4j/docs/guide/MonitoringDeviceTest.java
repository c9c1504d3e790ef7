package org.rdma4j.docs.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.micrometer.ChannelMeters;
import org.rdma4j.micrometer.RdmaMeters;
import org.rdma4j.netty.RdmaIoHandler;
import org.rdma4j.nio.RdmaSelectorProvider;

/** The code of docs/guide/monitoring.md. */
@Tag("device")
class MonitoringDeviceTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void theNodesOfNettysLoopsHaveMeters() throws Exception {
    AtomicInteger count = new AtomicInteger();
    // snippet: netty
    var loops =
        new MultiThreadIoEventLoopGroup(
            2,
            RdmaIoHandler.newFactory(
                NodeConfig.DEFAULT,
                node ->
                    RdmaMeters.of(node, "loop", "" + count.getAndIncrement()).bindTo(registry)));
    // end
    try {
      assertThat(registry.get("rdma4j.node.connections").tag("loop", "1").gauge().value()).isZero();
    } finally {
      loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }
  }

  @Test
  void metersCountWhatWasSent() throws Exception {
    try (RdmaNode servers = RdmaNode.open();
        var server = servers.bind(new InetSocketAddress(Peers.host(), 0))) {
      InetSocketAddress address = server.localAddress();
      // snippet: meters
      try (var node = RdmaNode.open();
          var meters = RdmaMeters.of(node);
          var connection = node.connect(address, TIMEOUT)) {
        meters.bindTo(registry);
        RdmaMeters.of(connection, "peer", "orders").bindTo(registry);
        if (SelectorProvider.provider() instanceof RdmaSelectorProvider provider) {
          new ChannelMeters(provider).bindTo(registry);
        }
        connection.send(StandardCharsets.UTF_8.encode("hello"), TIMEOUT);
        // end
        assertThat(
                registry
                    .get("rdma4j.node.message.bytes")
                    .tag("direction", "sent")
                    .functionCounter()
                    .count())
            .isEqualTo(5);
        // snippet: meters
      }
      // end
      assertThat(registry.find("rdma4j.node.messages").meters()).isEmpty();
    }
  }
}
