package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

class KeysTest {
  private static final Keys ON_ETHERNET =
      new Keys(
          new QueuePairAddress(0, 0x1a, 0x9b5e3d, Gid.ofHex("00000000000000000000ffffc0000201")),
          16,
          0x8899aabb,
          0x7f01_2345_6000L);
  private static final String TEXT =
      "0000:0010:00001a:9b5e3d:8899aabb:00007f0123456000:"
          + "00:00:00:00:00:00:00:00:00:00:ff:ff:c0:00:02:01:00000000:\0";
  private static final Keys ON_INFINIBAND =
      new Keys(new QueuePairAddress(0x12, 0x11, 5, Gid.ZERO), 1, 7, 0xffff_8000_0000_0000L);
  private static final String SHORT_TEXT =
      "0012:0001:000011:000005:00000007:ffff800000000000:00000000\0";

  @Test
  void textHasTheFormatOfC() {
    assertThat(ON_ETHERNET.toText(true)).hasSize(Keys.TEXT_BYTES_GID).isEqualTo(ascii(TEXT));
    assertThat(Keys.ofText(ascii(TEXT), "ib_send_lat")).isEqualTo(ON_ETHERNET);
    assertThat(Keys.hasGid(ascii(TEXT))).isTrue();
  }

  @Test
  void textWithoutGidHasTheFormatOfC() {
    assertThat(ON_INFINIBAND.toText(false)).hasSize(Keys.TEXT_BYTES).isEqualTo(ascii(SHORT_TEXT));
    assertThat(Keys.ofText(ascii(SHORT_TEXT), "ib_send_lat")).isEqualTo(ON_INFINIBAND);
    assertThat(Keys.hasGid(ascii(SHORT_TEXT))).isFalse();
  }

  @Test
  void structHasTheFormatOfC() {
    assertThat(HexFormat.of().formatHex(ON_ETHERNET.toStruct()))
        .isEqualTo(
            "00000000"
                + "00000010"
                + "0000001a"
                + "009b5e3d"
                + "8899aabb"
                + "00000000"
                + "00007f0123456000"
                + "00000000000000000000ffffc0000201"
                + "00000000"
                + "00000000");
    assertThat(Keys.ofStruct(ON_ETHERNET.toStruct())).isEqualTo(ON_ETHERNET);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "6.06\0\0\0\0\0\0\0\0\0\0\0\0",
        "0012:0001:000011:000005:00000007:ffff80000000000g:00000000\0",
        "GET / HTTP/1.1\r\nHost: somewhere.example.org\r\nAccept: */*\r\n\0\0",
      })
  void noiseIsRefusedInPrintableCharacters(String noise) {
    assertThatExceptionOfType(Failure.class)
        .isThrownBy(() -> Keys.ofText(ascii(noise), "ib_send_lat"))
        .withMessageContaining("not the address of a queue pair")
        .withMessageContaining("ib_send_lat")
        .satisfies(failure -> assertThat(failure.getMessage()).matches("[ -~]*"));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
