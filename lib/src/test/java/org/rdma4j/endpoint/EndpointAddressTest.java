package org.rdma4j.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Mtu;

/** What endpoints tell about themselves; no device is needed for that. */
final class EndpointAddressTest {
  static final EndpointAddress SAMPLE =
      new EndpointAddress(
          new QueuePairAddress(
              0x0102, 0x030405, 0x060708, Gid.ofHex("00000000000000000000ffffc0000201")),
          Mtu.MTU_1024,
          9,
          0x8877_6655_4433_2211L,
          0xaabb_ccdd,
          4096);

  @Property
  void anAddressIsDecodedAsItWasEncoded(
      @ForAll @IntRange(max = 0xffff) int lid,
      @ForAll @IntRange(max = 0xff_ffff) int number,
      @ForAll @IntRange(max = 0xff_ffff) int sequenceNumber,
      @ForAll long prefix,
      @ForAll long interfaceId,
      @ForAll Mtu mtu,
      @ForAll @IntRange(max = 0xff) int reads,
      @ForAll long address,
      @ForAll int key,
      @ForAll @LongRange(min = 1) long bytes)
      throws HandshakeException {
    EndpointAddress sent =
        new EndpointAddress(
            new QueuePairAddress(lid, number, sequenceNumber, new Gid(prefix, interfaceId)),
            mtu,
            reads,
            address,
            key,
            bytes);
    assertThat(sent.encode()).hasSize(EndpointAddress.ENCODED_BYTES);
    assertThat(EndpointAddress.decode(sent.encode())).isEqualTo(sent);
  }

  @Test
  void fieldsAreInNetworkByteOrder() {
    assertThat(SAMPLE.encode())
        .startsWith(1, 2, 4, 0, 9, 0, 0, 3, 4, 5, 0, 6, 7, 8)
        .endsWith(
            0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xaa, 0xbb, 0xcc, 0xdd, 0, 0, 0, 0, 0,
            0, 0x10, 0);
  }

  @Property
  void randomBytesAreAnAddressOrRefused(@ForAll @Size(EndpointAddress.ENCODED_BYTES) byte[] noise) {
    try {
      assertThat(EndpointAddress.decode(noise).encode()).isEqualTo(noise);
    } catch (HandshakeException expected) {
      assertThat(expected).hasMessageContaining("not the address of an endpoint");
    }
  }

  @Property
  void anotherLengthIsRefused(@ForAll @IntRange(max = 200) int length) {
    byte[] cut = Arrays.copyOf(SAMPLE.encode(), length);
    if (length != EndpointAddress.ENCODED_BYTES) {
      assertThatExceptionOfType(HandshakeException.class)
          .isThrownBy(() -> EndpointAddress.decode(cut))
          .withMessageContaining("the peer sent " + length);
    }
  }

  @Test
  void aFieldOutOfItsRangeIsNamed() {
    byte[] encoded = SAMPLE.encode();
    ByteBuffer.wrap(encoded).putShort(2, (short) 1000);
    assertThatThrownBy(() -> EndpointAddress.decode(encoded)).hasMessageContaining("MTU is 1000");
    byte[] number = SAMPLE.encode();
    ByteBuffer.wrap(number).putInt(6, 0x100_0000);
    assertThatThrownBy(() -> EndpointAddress.decode(number))
        .hasMessageContaining("queuePairNumber is 16777216");
    byte[] empty = SAMPLE.encode();
    ByteBuffer.wrap(empty).putLong(EndpointAddress.ENCODED_BYTES - 8, 0);
    assertThatThrownBy(() -> EndpointAddress.decode(empty))
        .hasMessageContaining("bufferBytes is 0");
    byte[] spare = SAMPLE.encode();
    spare[5] = 1;
    assertThatThrownBy(() -> EndpointAddress.decode(spare))
        .hasMessageContaining("the spare byte is not 0");
  }
}
