package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.AddedDevice;
import org.rdma4j.testing.Command;

/** Moves an address from one interface of a bond to the other, which has another MAC address. */
@Tag("device")
@Tag("alone")
@Tag("kernel")
@Tag("needs-soft-roce")
@Order(Integer.MAX_VALUE)
final class AddressChangeTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String BOND = "rdma4jb";
  private static final String FIRST = "rdma4jb1";
  private static final String SECOND = "rdma4jb2";
  private static final String ADDRESS = "203.0.113.1";

  @SuppressWarnings("NullAway.Init") // before each
  private AddedDevice added;

  @BeforeEach
  void bond() throws Exception {
    ip("link add " + BOND + " type bond mode active-backup fail_over_mac active");
    for (String each : new String[] {FIRST, SECOND}) {
      ip("link add " + each + " type dummy");
      ip("link set " + each + " master " + BOND);
    }
    ip("address add " + ADDRESS + "/24 dev " + BOND);
    ip("link set " + BOND + " up");
    ip("link set " + BOND + " type bond active_slave " + FIRST);
    added = AddedDevice.over(BOND);
  }

  @AfterEach
  void unbond() throws Exception {
    added.awaitRemoval();
    for (String each : new String[] {BOND, FIRST, SECOND}) {
      ip("link delete " + each);
    }
  }

  private static void ip(String words) throws Exception {
    Command.output(("ip " + words).split(" "));
  }

  @Test
  void anIdentifierIsToldThatItsAddressHasMoved() throws Exception {
    try (EventChannel channel = EventChannel.open()) {
      CmId id = channel.createId(PortSpace.TCP);
      id.bind(new InetSocketAddress(ADDRESS, 0));
      assertThat(id.device().info().name()).endsWith(BOND);
      ip("link set " + BOND + " type bond active_slave " + SECOND);
      assertThat(channel.awaitEvent(PATIENCE)).contains(new CmEvent.AddressChanged(id));
    }
  }
}
