package org.rdma4j.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.verbs.address.Gid;

class GidTextTest {
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
  void addressHasTheFormatOfInetNtop(String hex, String text) {
    assertThat(GidText.address(Gid.ofHex(hex))).isEqualTo(text);
    assertThat(GidText.parse(text)).isEqualTo(Gid.ofHex(hex));
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "192.0.2.1", "fe80::1::2", "fe80:1"})
  void textThatIsNotAnIpv6AddressIsNotAGid(String text) {
    assertThatThrownBy(() -> GidText.parse(text))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("\"" + text + "\" is not a GID");
  }

  @Test
  void groupsHaveFourDigits() {
    assertThat(GidText.groups(Gid.ofHex("fe800000000000000202c9fffe1234ab")))
        .isEqualTo("fe80:0000:0000:0000:0202:c9ff:fe12:34ab");
  }
}
