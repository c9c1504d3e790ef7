package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.testing.DeviceAddress;

/** The registered memory of all channels of a process, however many there are. */
@Tag("mlx5")
@Timeout(200)
final class MemoryBudgetTest {
  private static final long BUDGET = MemoryBudget.LEAST;
  private static final int MANY = 200;

  private final List<ChannelPair> pairs = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // each test
  private RdmaSelectorProvider clients;

  @SuppressWarnings("NullAway.Init") // each test
  private RdmaSelectorProvider servers;

  @SuppressWarnings("NullAway.Init") // each test
  private ServerSocketChannel listener;

  /** The bytes that were written to the channels of a pair. */
  private static final class Flow {
    private final ChannelPair pair;
    private int toServer;
    private int toClient;

    Flow(ChannelPair pair) {
      this.pair = pair;
    }
  }

  private static RdmaSelectorProvider provider(long budget) {
    return new RdmaSelectorProvider(
        ChannelSettings.read(
            name ->
                switch (name) {
                  case "org.rdma4j.nio.addressMap" ->
                      "127.0.0.1=" + DeviceAddress.ipv4().getHostAddress();
                  case "org.rdma4j.nio.upgradeAfterBytes" -> "32";
                  case "org.rdma4j.nio.devices" -> "all";
                  case "org.rdma4j.nio.timeoutSeconds" -> "60";
                  case "org.rdma4j.nio.retryDelaySeconds" -> "0";
                  case "org.rdma4j.nio.maxRegisteredBytes" -> "" + budget;
                  default -> null;
                }));
  }

  private void connect(long ofClients, long ofServers) throws Exception {
    clients = provider(ofClients);
    servers = provider(ofServers);
    listener = UpgradeTest.listen(servers);
    for (int i = 0; i < MANY; i++) {
      pairs.add(open());
    }
    for (ChannelPair each : pairs) {
      UpgradeTest.greet(each.client(), each.server());
    }
    UpgradeTest.await(
        () -> clients.statistics().upgraded() + clients.statistics().stayed() == MANY);
    assertThat(clients.statistics().upgraded()).isBetween(MANY / 5L, MANY * 4L / 5);
  }

  private ChannelPair open() throws Exception {
    SocketChannel client = clients.openSocketChannel();
    client.connect(listener.getLocalAddress());
    return new ChannelPair(client, listener.accept());
  }

  @AfterEach
  void close() throws Exception {
    closeAll();
    listener.close();
    clients.rendezvous().close();
    servers.rendezvous().close();
  }

  private void closeAll() throws Exception {
    for (ChannelPair each : pairs) {
      each.close();
    }
    pairs.clear();
  }

  private static long registered(RdmaSelectorProvider provider) {
    return provider.statistics().registeredBytes();
  }

  private void checkRegistered() {
    assertThat(registered(clients))
        .as("memory of the clients: %s", clients.rendezvous().node().statistics())
        .isLessThanOrEqualTo(BUDGET);
    assertThat(registered(servers))
        .as("memory of the servers: %s", servers.rendezvous().node().statistics())
        .isLessThanOrEqualTo(BUDGET);
  }

  private static int writeUntilFull(SocketChannel channel) throws Exception {
    int count = 0;
    int once = channel.write(ByteBuffer.allocate(256 << 10));
    while (once > 0) {
      count += once;
      once = channel.write(ByteBuffer.allocate(256 << 10));
    }
    return count;
  }

  @Test
  void greedyChannelsHoldNoMoreThanTheBudgetAndLoseNothing() throws Exception {
    connect(BUDGET, BUDGET);
    checkRegistered();
    pairs.removeIf(each -> !UpgradeTest.isMoved(each.client()));
    List<Flow> flows = pairs.stream().map(Flow::new).toList();
    for (ChannelPair each : pairs) {
      each.client().configureBlocking(false);
      each.server().configureBlocking(false);
    }
    for (int round = 0; round < 20; round++) {
      for (Flow each : flows) {
        each.toServer += writeUntilFull(each.pair.client());
        each.toClient += writeUntilFull(each.pair.server());
        checkRegistered();
      }
      Thread.sleep(10);
    }
    for (Flow each : flows) {
      each.pair.client().configureBlocking(true);
      each.pair.server().configureBlocking(true);
      assertThat(each.toServer).as("what a channel can write in any case").isPositive();
      var read = waiting(() -> UpgradeTest.read(each.pair.server(), each.toServer).length);
      assertThat(UpgradeTest.read(each.pair.client(), each.toClient)).hasSize(each.toClient);
      assertThat(read.get()).isEqualTo(each.toServer);
    }
    checkRegistered();
  }

  @Test
  void aServerRefusesBeyondItsBudgetWhateverClientsAskFor() throws Exception {
    try (LogLines log = new LogLines()) {
      connect(1L << 30, BUDGET);
      assertThat(registered(servers)).isLessThanOrEqualTo(BUDGET);
      assertThat(log.that("raise it to upgrade more")).hasSize(1);
    }
  }

  @Test
  void whatIsClosedMakesRoomForOthers() throws Exception {
    connect(BUDGET, 1L << 30);
    long before = clients.statistics().upgraded();
    closeAll();
    UpgradeTest.await(() -> clients.rendezvous().node().statistics().connections() == 0);
    for (int i = 0; i < before / 2; i++) {
      ChannelPair another = open();
      pairs.add(another);
      UpgradeTest.greet(another.client(), another.server());
      UpgradeTest.await(() -> UpgradeTest.isMoved(another.client()));
    }
  }

  @Test
  void memoryThatIsNotNeededAnyMoreIsGivenBack() throws Exception {
    clients = provider(BUDGET);
    servers = provider(BUDGET);
    listener = UpgradeTest.listen(servers);
    List<Flow> flows = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      ChannelPair pair = open();
      pairs.add(pair);
      UpgradeTest.greet(pair.client(), pair.server());
      UpgradeTest.await(
          () -> UpgradeTest.isMoved(pair.client()) && UpgradeTest.isMoved(pair.server()));
      pair.client().configureBlocking(false);
      Flow flow = new Flow(pair);
      flow.toServer = writeUntilFull(pair.client());
      flows.add(flow);
    }
    long peak = registered(clients);
    for (Flow each : flows) {
      UpgradeTest.read(each.pair.server(), each.toServer);
    }
    UpgradeTest.await(() -> registered(clients) <= peak / 2);
  }
}
