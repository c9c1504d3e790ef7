package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Set;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an operator sees of channels: by JMX, by counters, and in the log. */
@Tag("device")
@Timeout(100)
final class ChannelsBeanTest {
  private static final int BYTES = 100_000;

  private final MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
  private final RdmaSelectorProvider clients = UpgradeTest.provider("");
  private final RdmaSelectorProvider servers = UpgradeTest.provider("");

  @AfterEach
  void close() {
    clients.rendezvous().close();
    servers.rendezvous().close();
  }

  private Set<ObjectName> names() throws Exception {
    return beans.queryNames(new ObjectName("org.rdma4j:type=Channels,*"), null);
  }

  /** Returns an open channel of any provider, as a program elsewhere gets it. */
  private CompositeData find(SocketChannel channel, boolean client) throws Exception {
    String name = ((StreamChannel) channel).record().name();
    for (ObjectName each : names()) {
      CompositeData[] channels = (CompositeData[]) beans.getAttribute(each, "Channels");
      for (CompositeData found : channels) {
        if (found.get("connection").equals(name) && found.get("client").equals(client)) {
          return found;
        }
      }
    }
    throw new AssertionError(name + " is not among the channels of " + names());
  }

  private static void send(SocketChannel from, SocketChannel to) throws Exception {
    var writer = ChannelPair.waiting(() -> from.write(ByteBuffer.allocate(BYTES)));
    UpgradeTest.read(to, BYTES);
    assertThat(writer.get()).isEqualTo(BYTES);
  }

  @Test
  void eachChannelIsListedWithItsWayAndItsBytes() throws Exception {
    try (ServerSocketChannel listener = UpgradeTest.listen(servers);
        SocketChannel client = clients.openSocketChannel()) {
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.await(() -> names().size() >= 2);
        assertThat(find(client, true).get("over")).isEqualTo("TCP");
        assertThat((String) find(client, true).get("reason")).contains("not decided");
        UpgradeTest.greet(client, server);
        UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
        send(client, server);
        CompositeData sender = find(client, true);
        CompositeData receiver = find(server, false);
        assertThat(sender.get("over")).isEqualTo("RDMA");
        assertThat(sender.get("reason")).isEqualTo("");
        assertThat((String) sender.get("since")).endsWith("Z");
        assertThat(sender.get("rdmaSentBytes")).isEqualTo((long) BYTES);
        assertThat(receiver.get("rdmaReceivedBytes")).isEqualTo((long) BYTES);
        assertThat((long) sender.get("tcpSentBytes"))
            .isPositive()
            .isEqualTo(receiver.get("tcpReceivedBytes"));
      }
    }
    ChannelStatistics statistics = clients.statistics();
    assertThat(statistics.tcpSentBytes()).isPositive();
    assertThat(statistics.registeredBytes()).isPositive();
    assertThat(clients.rendezvous().bean().getChannels()).as("after the close").isEmpty();
  }

  @Test
  void aChannelThatStaysSaysWhyAndIsCountedByReason() throws Exception {
    try (ServerSocketChannel listener = JdkProvider.find().openServerSocketChannel();
        SocketChannel client = clients.openSocketChannel()) {
      listener.bind(ChannelPair.anyPort());
      clients.rendezvous().close();
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        send(client, server);
        send(server, client);
      }
      ChannelState state = clients.rendezvous().bean().getChannels().getFirst();
      assertThat(state.over()).isEqualTo("TCP");
      assertThat(state.reason()).contains("this process cannot use it");
      assertThat(state.tcpSentBytes()).isEqualTo(BYTES);
      assertThat(state.tcpReceivedBytes()).isEqualTo(BYTES);
    }
    assertThat(clients.statistics().stayedByReason())
        .containsEntry("unavailable", 1L)
        .containsEntry("refused", 0L);
    assertThat(clients.statistics().tcpReceivedBytes()).isEqualTo(BYTES);
  }

  @Test
  void oneLineAtTheStartSaysWhatIsUsed() throws Exception {
    try (LogLines log = new LogLines();
        ServerSocketChannel listener = UpgradeTest.listen(servers)) {
      assertThat(listener.isOpen()).isTrue();
      assertThat(log.that("channels are upgraded to RDMA over")).hasSize(1);
      assertThat(log.that("channels are upgraded to RDMA over").getFirst())
          .contains("all networks", "1024 MiB")
          .isEqualTo(servers.rendezvous().bean().getSummary());
    }
  }

  @Test
  void theBeanEndsWithItsProvider() throws Exception {
    int before = names().size();
    servers.rendezvous().bean().registerSoon();
    UpgradeTest.await(() -> names().size() == before + 1);
    servers.rendezvous().close();
    assertThat(names()).as(Arrays.toString(names().toArray())).hasSize(before);
  }
}
