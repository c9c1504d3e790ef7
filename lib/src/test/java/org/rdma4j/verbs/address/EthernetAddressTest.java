package org.rdma4j.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EthernetAddressTest {
  @Test
  void itIsTheNumberOfItsBytesInTheirOrder() {
    byte[] bytes = new byte[EthernetAddress.BYTES];
    EthernetAddress address = EthernetAddress.of("02:00:5e:10:00:ff");
    assertThat(address.value()).isEqualTo(0x0200_5e10_00ffL);
    address.write(MemorySegment.ofArray(bytes));
    assertThat(bytes).containsExactly(2, 0, 0x5e, 0x10, 0, 0xff);
    assertThat(EthernetAddress.read(MemorySegment.ofArray(bytes))).isEqualTo(address);
    assertThat(address).hasToString("02:00:5e:10:00:ff");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "02:00:5e:10:00", "02:00:5e:10:00:ff:00", "02005e1000ff", "x"})
  void textThatIsNotAnAddressIsRefused(String text) {
    assertThatThrownBy(() -> EthernetAddress.of(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1L << 48})
  void aNumberThatDoesNotFitIntoSixBytesIsRefused(long value) {
    assertThatThrownBy(() -> new EthernetAddress(value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0x" + Long.toHexString(value));
  }
}
