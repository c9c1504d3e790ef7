package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Which addresses are refused before C sees them. */
final class SocketAddressesTest {
  @Test
  void aLinkLocalAddressMustHaveAScope() throws Exception {
    InetAddress address = InetAddress.getByName("fe80::1");
    assertThatThrownBy(() -> SocketAddresses.check(new InetSocketAddress(address, 7471)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fe80:0:0:0:0:0:0:1")
        .hasMessageContaining("must have a scope")
        .hasMessageContaining("%eth0");
    SocketAddresses.check(
        new InetSocketAddress(Inet6Address.getByAddress(null, address.getAddress(), 1), 7471));
  }
}
