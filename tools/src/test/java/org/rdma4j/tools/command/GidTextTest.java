package org.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.verbs.address.Gid;

class GidTextTest {
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
