package org.rdma4j.connection.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

final class HelloTest {
  private static final Hello HELLO = new Hello(4096, 2, 64, 1 << 20);

  @Property
  void whatIsWrittenIsRead(
      @ForAll @IntRange(min = Hello.MIN_BUFFER_BYTES) int bufferBytes,
      @ForAll @IntRange(max = 100) int credits,
      @ForAll @IntRange(min = 100) int receives,
      @ForAll @LongRange(min = 1) long maxMessageBytes) {
    Hello hello = new Hello(bufferBytes, credits, receives, maxMessageBytes);
    assertThat(Hello.read(hello.write())).contains(hello);
  }

  @Test
  void itsBytesAreThoseOfTheProtocol() {
    byte[] bytes = new byte[Hello.BYTES];
    HELLO.write().get(bytes);
    assertThat(HexFormat.of().formatHex(bytes))
        .isEqualTo(
            "52344a43"
                + "00000004"
                + "00001000"
                + "00000002"
                + "00000040"
                + "0000000000100000"
                + "5a");
  }

  @Test
  void featuresFollowTheLastByteOfTheFirstVersion() {
    ByteBuffer written = HELLO.with(Hello.PACKED | 0x60).write();
    assertThat(written.remaining()).isEqualTo(Hello.BYTES + 4);
    assertThat(written.getInt(Hello.BYTES)).isEqualTo(0x61);
    Hello read = Hello.read(written).orElseThrow();
    assertThat(read.features()).isEqualTo(0x61);
  }

  @Test
  void aPeerThatWritesNoFeaturesHasNone() {
    ByteBuffer older = HELLO.with(Hello.PACKED).write().limit(Hello.BYTES);
    assertThat(Hello.read(older)).contains(HELLO);
  }

  @Test
  void zerosMayFollow() {
    ByteBuffer padded = ByteBuffer.allocate(196).put(HELLO.write()).rewind();
    assertThat(Hello.read(padded)).contains(HELLO);
  }

  @Test
  void oneThatIsCutOffIsRefusedEvenIfZerosFollow() {
    for (int length = 0; length < Hello.BYTES; length++) {
      ByteBuffer cut = HELLO.write().limit(length);
      assertThat(Hello.read(cut.duplicate())).as("%d bytes", length).isEmpty();
      ByteBuffer padded = ByteBuffer.allocate(196).put(cut).rewind();
      assertThat(Hello.read(padded)).as("%d bytes and zeros", length).isEmpty();
    }
  }

  @Test
  void anotherVersionIsRefused() {
    assertThat(Hello.read(HELLO.write().putInt(4, 1))).isEmpty();
  }

  @Test
  void numbersThatMakeNoSenseAreRefused() {
    assertThat(Hello.read(new Hello(63, 2, 64, 1).write())).isEmpty();
    assertThat(Hello.read(new Hello(4096, -1, 64, 1).write())).isEmpty();
    assertThat(Hello.read(new Hello(4096, 2, 1, 1).write())).isEmpty();
    assertThat(Hello.read(new Hello(4096, 2, 64, 0).write())).isEmpty();
  }
}
