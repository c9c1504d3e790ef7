package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;

/** Channels use no software devices, and no peers on their host, unless a property allows it. */
@Tag("device")
@Timeout(100)
final class UsableDevicesTest {
  private static RdmaSelectorProvider adapters() {
    return new RdmaSelectorProvider(
        ChannelSettings.read(
            name ->
                switch (name) {
                  case "org.rdma4j.nio.addressMap" ->
                      "127.0.0.1=" + DeviceAddress.ipv4().getHostAddress();
                  case "org.rdma4j.nio.upgradeAfterBytes" -> "32";
                  default -> null;
                }));
  }

  private static boolean isNamedSoftware(DeviceInfo device) {
    return device.name().matches("(rxe|siw).*");
  }

  @Test
  void theVendorSaysWhetherADeviceIsOneOfSoftware() {
    List<DeviceInfo> devices = RdmaDevice.list();
    assertThat(devices).isNotEmpty();
    for (DeviceInfo each : devices) {
      try (RdmaDevice device = RdmaDevice.open(each.name())) {
        assertThat(UsableDevices.isSoftware(device.attributes().vendorId()))
            .as(each.name())
            .isEqualTo(isNamedSoftware(each));
      }
    }
  }

  @Test
  void softwareDevicesAloneAreNotUsed() {
    Rendezvous rendezvous = adapters().rendezvous();
    try {
      if (RdmaDevice.list().stream().allMatch(UsableDevicesTest::isNamedSoftware)) {
        assertThatThrownBy(rendezvous::node)
            .hasMessageContaining("software devices")
            .hasMessageContaining("set org.rdma4j.nio.devices to all");
      } else {
        assertThat(rendezvous.node()).isNotNull();
      }
    } finally {
      rendezvous.close();
    }
  }

  @Test
  void channelsToThisHostStayOnTcpAndOneLineSaysSo() throws Exception {
    RdmaSelectorProvider clients = adapters();
    RdmaSelectorProvider servers = UpgradeTest.provider("");
    try (LogLines log = new LogLines();
        ServerSocketChannel listener = UpgradeTest.listen(servers)) {
      for (int i = 0; i < 2; i++) {
        try (SocketChannel client = clients.openSocketChannel()) {
          client.connect(listener.getLocalAddress());
          try (SocketChannel server = listener.accept()) {
            UpgradeTest.greet(client, server);
            assertThat(((StreamChannel) client).hasUpgrade()).isFalse();
          }
        }
      }
      assertThat(log.that("to peers on this host"))
          .singleElement()
          .asString()
          .contains("set org.rdma4j.nio.devices to all");
    } finally {
      clients.rendezvous().close();
      servers.rendezvous().close();
    }
  }

  @Test
  void soDoThoseFromAnotherAddressOfThisHost() throws Exception {
    RdmaSelectorProvider clients = adapters();
    RdmaSelectorProvider servers = UpgradeTest.provider("");
    try (LogLines log = new LogLines();
        ServerSocketChannel listener = UpgradeTest.listen(servers);
        SocketChannel client = clients.openSocketChannel()) {
      client.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 0));
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.greet(client, server);
        UpgradeTest.await(() -> !((StreamChannel) client).hasUpgrade());
      }
      assertThat(log.that("to peers on this host")).hasSize(1);
    } finally {
      clients.rendezvous().close();
      servers.rendezvous().close();
    }
    assertThat(clients.statistics().stayed()).isEqualTo(1);
  }

  @Test
  void aServerKeepsItsHostsChannelsOnTcpToo() throws Exception {
    RdmaSelectorProvider servers = adapters();
    try (ServerSocketChannel listener = servers.openServerSocketChannel()) {
      listener.bind(ChannelPair.anyPort());
      try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
          SocketChannel server = listener.accept()) {
        assertThat(client.isConnected()).isTrue();
        assertThat(((StreamChannel) server).hasUpgrade()).isFalse();
      }
    } finally {
      servers.rendezvous().close();
    }
  }
}
