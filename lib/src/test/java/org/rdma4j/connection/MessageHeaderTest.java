package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

final class MessageHeaderTest {
  @Property
  void whatIsEncodedIsDecoded(
      @ForAll @IntRange(max = 15) int kind, @ForAll @IntRange(max = (1 << 28) - 1) int credits) {
    MessageHeader header = new MessageHeader(kind, credits);
    assertThat(MessageHeader.decode(header.encode())).isEqualTo(header);
  }

  @Test
  void theKindIsInTheFirstFourBits() {
    assertThat(new MessageHeader(MessageHeader.MESSAGE, 7).encode()).isEqualTo(7);
    assertThat(new MessageHeader(MessageHeader.CREDITS, 7).encode()).isEqualTo(0x1000_0007);
    assertThat(new MessageHeader(MessageHeader.END, 0).encode()).isEqualTo(0x2000_0000);
    assertThat(MessageHeader.decode(-1)).isEqualTo(new MessageHeader(15, 0x0fff_ffff));
  }
}
