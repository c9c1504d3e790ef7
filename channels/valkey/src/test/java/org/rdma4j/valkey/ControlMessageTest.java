package org.rdma4j.valkey;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.RemoteMemory;

/** The bytes of control messages, as the page of Valkey about its protocol describes them. */
final class ControlMessageTest {
  private static final String REGISTER =
      "0003" + "00".repeat(14) + "0102030405060708" + "00100000" + "deadbeef";

  private final byte[] bytes = new byte[ControlMessage.BYTES];
  private final MemorySegment message = MemorySegment.ofArray(bytes);

  @Test
  void aBufferIsNamedByAddressLengthAndKey() {
    ControlMessage.write(message, new RemoteMemory(0x0102030405060708L, 0xdeadbeef, 1 << 20));
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(REGISTER);
  }

  @Test
  void aLengthIsUnsigned() {
    MemorySegment.copy(
        HexFormat.of().parseHex(REGISTER.replace("00100000", "ffffffff")),
        0,
        message,
        JAVA_BYTE,
        0,
        32);
    assertThat(ControlMessage.kind(message)).isEqualTo(ControlMessage.REGISTER_XFER_MEMORY);
    assertThat(ControlMessage.buffer(message))
        .isEqualTo(new RemoteMemory(0x0102030405060708L, 0xdeadbeef, 0xffff_ffffL));
  }

  @Test
  void otherMessagesHaveTheirKindAlone() {
    message.fill((byte) 1);
    ControlMessage.write(message, ControlMessage.KEEPALIVE);
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("0002" + "00".repeat(30));
  }
}
