package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.testing.AddedDevice;

/**
 * Removes a device while it is in use: a soft-RoCE device over an interface, both added for each
 * test. Runs alone, after all other tests, because those list the devices too, and a device that
 * could not be removed would get in their way.
 */
@Tag("device")
@Tag("alone")
@Tag("kernel")
@Tag("needs-soft-roce")
@Order(Integer.MAX_VALUE)
final class DeviceRemovalTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** As long as nothing waits for something else. */
  private static final Duration PROMPT = Duration.ofSeconds(20);

  private static final String INTERFACE = "rdma4j1";
  private static final String ADDRESS = "198.51.100.1";

  @SuppressWarnings("NullAway.Init") // before each
  private AddedDevice added;

  @BeforeEach
  void add() throws Exception {
    added = AddedDevice.withInterface(INTERFACE, ADDRESS);
  }

  @AfterEach
  void awaitRemoval() throws Exception {
    added.awaitRemoval();
  }

  @Test
  void aBoundIdentifierGetsAnEvent() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId id = channel.createId(PortSpace.TCP);
      id.bind(new InetSocketAddress(ADDRESS, 0));
      assertThat(id.hasDevice()).isTrue();
      added.remove();
      assertThat(channel.awaitEvent(PATIENCE)).contains(new CmEvent.DeviceRemoved(id));
      id.close();
    }
  }

  @Test
  void anIdentifierThatDidNotAskForItsDeviceDoesNotHoldItAfterItsClose() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId id = channel.createId(PortSpace.TCP);
      id.bind(new InetSocketAddress(ADDRESS, 0));
      id.close();
      assertThat(added.remove(PROMPT)).isTrue();
    }
  }

  @Test
  void aWaitForARequestEndsWithENODEV() throws Exception {
    try (SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP)) {
      listener.id().bind(new InetSocketAddress(ADDRESS, 0));
      listener.id().listen(1);
      FutureTask<Optional<SynchronousCmId>> request =
          RdmaConnectionTest.start(() -> listener.awaitRequest(PATIENCE));
      assertThatThrownBy(() -> request.get(100, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      added.remove();
      assertThatThrownBy(() -> RdmaConnectionTest.get(request))
          .cause()
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ENODEV");
    }
  }

  @Test
  void aConnectionBreaksWithENODEVAndCloses() throws Exception {
    try (RdmaServer listener = RdmaServer.bind(new InetSocketAddress(ADDRESS, 0))) {
      FutureTask<RdmaConnection> accept = RdmaConnectionTest.start(() -> listener.accept(PATIENCE));
      try (RdmaConnection client = RdmaConnection.connect(listener.localAddress(), PATIENCE);
          RdmaConnection server = RdmaConnectionTest.get(accept)) {
        List<FutureTask<Optional<MessageBuffer>>> receives = new ArrayList<>();
        for (RdmaConnection each : List.of(client, server)) {
          FutureTask<Optional<MessageBuffer>> receive =
              RdmaConnectionTest.start(() -> each.receive(PATIENCE));
          assertThatThrownBy(() -> receive.get(100, TimeUnit.MILLISECONDS))
              .isInstanceOf(TimeoutException.class);
          receives.add(receive);
        }
        added.remove();
        for (FutureTask<Optional<MessageBuffer>> receive : receives) {
          assertThatThrownBy(() -> RdmaConnectionTest.get(receive))
              .cause()
              .isInstanceOf(RdmaException.class)
              .hasMessageContaining("ENODEV");
        }
        assertThatThrownBy(() -> client.send(ByteBuffer.allocate(1), PATIENCE))
            .isInstanceOf(RdmaException.class)
            .hasMessageContaining("ENODEV");
        assertThatThrownBy(() -> client.register(1))
            .isInstanceOf(RdmaException.class)
            .hasMessageContaining("ENODEV");
      }
    }
  }

  @Test
  @SuppressWarnings("try") // It is closed earlier than at the end of the block.
  void aNodeThatHasNoConnectionOverItDoesNotHoldIt() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer listener = node.bind(new InetSocketAddress(ADDRESS, 0))) {
      RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
      RdmaConnection server = listener.accept(PATIENCE);
      client.close();
      server.close();
      listener.close();
      assertThat(added.remove(PROMPT)).isTrue();
      // The node goes on with other devices.
      try (RdmaServer other = node.bind(RdmaConnectionTest.local())) {
        node.connect(other.localAddress(), PATIENCE).close();
      }
    }
  }

  @Test
  void aProcessThatUsesAnotherDeviceDoesNotHoldIt() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer listener = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = node.connect(listener.localAddress(), PATIENCE)) {
      assertThat(added.remove(PROMPT)).isTrue();
      assertThat(client.isOpen()).isTrue();
    }
  }

  @Test
  void aServerThatIsBoundToItDoesNotHoldIt() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer listener = node.bind(new InetSocketAddress(ADDRESS, 0))) {
      InetSocketAddress address = listener.localAddress();
      assertThat(added.remove(PROMPT)).isTrue();
      assertThatThrownBy(() -> listener.accept(PATIENCE))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ENODEV");
      assertThat(listener.localAddress()).isEqualTo(address);
    }
  }

  @Test
  void anOpenConnectionDoesNotHoldIt() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer listener = node.bind(new InetSocketAddress(ADDRESS, 0));
        RdmaConnection client = node.connect(listener.localAddress(), PATIENCE)) {
      assertThat(added.remove(PROMPT)).isTrue();
      assertThat(client.isOpen()).isFalse();
    }
  }
}
