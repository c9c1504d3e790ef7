package org.rdma4j.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Locale;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The text form and the byte form of the addresses of queue pairs. */
final class QueuePairAddressTest {
  private static final QueuePairAddress SAMPLE =
      new QueuePairAddress(0x12, 0x1f, 0xab5cd3, Gid.of("::ffff:192.0.2.1"));
  private static final String TEXT = "LID 0x0012, QPN 0x00001f, PSN 0xab5cd3, GID ::ffff:192.0.2.1";

  @Property
  void bothFormsAreParsed(
      @ForAll @IntRange(max = 0xffff) int lid,
      @ForAll @IntRange(max = 0xff_ffff) int number,
      @ForAll @IntRange(max = 0xff_ffff) int sequenceNumber,
      @ForAll long prefix,
      @ForAll long interfaceId) {
    QueuePairAddress address =
        new QueuePairAddress(lid, number, sequenceNumber, new Gid(prefix, interfaceId));
    assertThat(QueuePairAddress.of(address.toString())).isEqualTo(address);
    assertThat(QueuePairAddress.of(address.toBytes())).isEqualTo(address);
  }

  @Test
  void theTextIsThatOfRdmaCoresPingPongs() {
    assertThat(SAMPLE).hasToString(TEXT);
    assertThat(QueuePairAddress.of(TEXT)).isEqualTo(SAMPLE);
    assertThat(QueuePairAddress.of(TEXT.replace("ab5cd3", "AB5CD3"))).isEqualTo(SAMPLE);
    assertThat(QueuePairAddress.of(TEXT.replace("0x0000", "0x"))).isEqualTo(SAMPLE);
    assertThat(new QueuePairAddress(0, 0, 0, Gid.ZERO))
        .hasToString("LID 0x0000, QPN 0x000000, PSN 0x000000, GID ::");
  }

  @Test
  void theTextDoesNotDependOnTheLocale() {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
      assertThat(SAMPLE).hasToString(TEXT);
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void theBytesAreInNetworkByteOrder() {
    assertThat(SAMPLE.toBytes())
        .hasSize(QueuePairAddress.BYTES)
        .containsExactly(
            0, 0x12, 0, 0, 0, 0x1f, 0, 0xab, 0x5c, 0xd3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
            192, 0, 2, 1);
    assertThat(QueuePairAddress.BYTES).isEqualTo(26);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "LID",
        "LID 0x0012, QPN 0x00001f, PSN 0xab5cd3",
        "LID 0x0012, QPN 0x00001f, PSN 0xab5cd3, GID ",
        "LID 0x0012, QPN 0x00001f, PSN 0xab5cd3, GID localhost",
        "LID 0x0012, QPN 0x00001f, PSN 0xab5cd3, GID 192.0.2.1",
        "LID 0x0012, QPN 0x00001f, PSN 0xab5cd3, GID ::1\n",
        "LID 0x12345, QPN 0x00001f, PSN 0xab5cd3, GID ::1",
        "LID 0x0012, QPN 0x100001f, PSN 0xab5cd3, GID ::1",
        "LID 0x0012, QPN 0x00001f, PSN 0x1ab5cd3, GID ::1",
        "LID 0x-012, QPN 0x00001f, PSN 0xab5cd3, GID ::1",
        "LID 0x, QPN 0x00001f, PSN 0xab5cd3, GID ::1",
        "LID 12, QPN 0x00001f, PSN 0xab5cd3, GID ::1",
        " LID 0x0012, QPN 0x00001f, PSN 0xab5cd3, GID ::1",
        "0012:00001f:ab5cd3:00000000000000000000ffffc0000201"
      })
  void otherTextIsRefusedWithItsValue(String text) {
    assertThatThrownBy(() -> QueuePairAddress.of(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "\"%s\" is not the address of a queue pair, must have the form \"%s\"",
            text, "LID 0x0000, QPN 0x00001f, PSN 0xab5cd3, GID fe80::1");
  }

  @Test
  void aLongTextIsRefusedWithoutRepeatingIt() {
    assertThatThrownBy(() -> QueuePairAddress.of(TEXT + "0".repeat(1_000_000)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the text has 1000060 characters, the address of a queue pair has at most 200");
  }

  @Property
  void anyTextIsAnAddressOrRefused(@ForAll String text) {
    assertThatThrownBy(() -> QueuePairAddress.of(text))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Property
  void anyBytesAreAnAddressOrRefused(@ForAll @Size(QueuePairAddress.BYTES) byte[] noise) {
    ByteBuffer fields = ByteBuffer.wrap(noise);
    if (fields.get(2) == 0 && fields.get(6) == 0) {
      assertThat(QueuePairAddress.of(noise).toBytes()).isEqualTo(noise);
    } else {
      assertThatThrownBy(() -> QueuePairAddress.of(noise))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("(queuePair|sequence)Number is -?\\d+, must be from 0 to 16777215");
    }
  }

  @Property
  void bytesOfAnotherLengthAreRefused(@ForAll @Size(max = 100) byte[] bytes) {
    if (bytes.length != QueuePairAddress.BYTES) {
      assertThatThrownBy(() -> QueuePairAddress.of(bytes))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the address of a queue pair has 26 bytes, the array has %d", bytes.length);
    }
  }
}
