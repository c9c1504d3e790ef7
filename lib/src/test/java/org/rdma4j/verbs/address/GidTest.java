package org.rdma4j.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The text form of GIDs, and their conversion to and from IP addresses. */
final class GidTest {
  /** The right column is the result of inet_ntop of glibc for the left one. */
  @ParameterizedTest
  @CsvSource({
    "00000000000000000000000000000000, ::",
    "00000000000000000000000000000001, ::1",
    "00000000000000000000ffffc0000201, ::ffff:192.0.2.1",
    "000000000000000000000000c0000201, ::192.0.2.1",
    "fe800000000000000202c9fffe1234ab, fe80::202:c9ff:fe12:34ab",
    "20010db8000000000001000000000000, 2001:db8:0:0:1::",
    "20010db8000000010001000100010001, 2001:db8:0:1:1:1:1:1",
    "20010db8000000000001000000000001, 2001:db8::1:0:0:1",
    "ffffffffffffffffffffffffffffffff, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
  })
  void textIsWhatInetNtopPrints(String hex, String text) {
    assertThat(Gid.ofHex(hex)).hasToString(text);
    assertThat(Gid.of(text)).isEqualTo(Gid.ofHex(hex));
  }

  @Property
  void everyGidParsesWhatItPrints(@ForAll long prefix, @ForAll long interfaceId) {
    // Masks, so that runs of zeros occur.
    for (long mask : new long[] {-1, 0xffff_0000_ffffL, 0xffff_0000_0000_ffffL, 0xffffL}) {
      Gid gid = new Gid(prefix & mask, interfaceId & Long.reverse(mask));
      assertThat(Gid.of(gid.toString())).isEqualTo(gid);
    }
  }

  @Property
  void everyIpv4AddressBecomesAMappedGidAndComesBack(@ForAll @Size(4) byte[] bytes)
      throws UnknownHostException {
    InetAddress address = InetAddress.getByAddress(bytes);
    Gid gid = Gid.of(address);
    assertThat(gid.toHex()).isEqualTo("00000000000000000000ffff" + HexFormat.of().formatHex(bytes));
    assertThat(gid).hasToString("::ffff:" + address.getHostAddress());
    assertThat(gid.toInetAddress()).isInstanceOf(Inet4Address.class).isEqualTo(address);
  }

  @Property
  void everyGidBecomesAnAddressAndComesBack(@ForAll long prefix, @ForAll long interfaceId) {
    Gid gid = new Gid(prefix, interfaceId);
    assertThat(Gid.of(gid.toInetAddress())).isEqualTo(gid);
    assertThat(HexFormat.of().formatHex(gid.toInetAddress().getAddress())).isEqualTo(gid.toHex());
  }

  @Test
  void scopesAreIgnored() throws UnknownHostException {
    Gid gid = new Gid(0xfe80L << 48, 1);
    byte[] bytes = gid.toInetAddress().getAddress();
    assertThat(Gid.of(Inet6Address.getByAddress(null, bytes, 7))).isEqualTo(gid);
    assertThat(gid.toInetAddress())
        .isInstanceOf(Inet6Address.class)
        .hasToString("/fe80:0:0:0:0:0:0:1");
    assertThat(Gid.of("fe80::1%7")).isEqualTo(gid);
    assertThat(Gid.of("fe80::1%no-such-interface")).isEqualTo(gid);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "FE80::202:C9FF:FE12:34AB",
        "fe80:0:0:0:202:c9ff:fe12:34ab",
        "fe80:0000:0000:0000:0202:c9ff:fe12:34ab",
        "fe80::202:c9ff:254.18.52.171"
      })
  void otherFormsOfIpv6AddressesAreParsed(String text) {
    assertThat(Gid.of(text)).isEqualTo(Gid.ofHex("fe800000000000000202c9fffe1234ab"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "localhost",
        "x:1",
        "a.example:1",
        "192.0.2.1",
        "fe80::1::2",
        "fe80:1",
        " ::1",
        "::1 ",
        "::1\n",
        "12345::",
        "fe80::1%",
        "%eth0",
        "fe80::1%a%b",
        "::ffff:192.0.2",
        "fe800000000000000202c9fffe1234ab"
      })
  void otherTextIsRefusedWithItsValue(String text) {
    assertThatThrownBy(() -> Gid.of(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("\"" + text + "\" is not a GID, must be an IPv6 address such as fe80::1");
  }

  @Property
  void anyTextIsAGidOrRefused(@ForAll String text) {
    try {
      assertThat(Gid.of(Gid.of(text).toString())).isEqualTo(Gid.of(text));
    } catch (IllegalArgumentException refused) {
      assertThat(refused).hasMessageStartingWith("\"" + text + "\" is not a GID");
    }
  }
}
