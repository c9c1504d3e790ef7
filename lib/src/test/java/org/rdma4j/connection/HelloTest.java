package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class HelloTest {
  private static final Hello HELLO = new Hello(16, 4096);

  @Test
  void whatIsWrittenIsReadAlsoWithZerosBehind() {
    ByteBuffer padded = ByteBuffer.allocate(56).put(HELLO.write()).rewind();
    assertThat(Hello.read(padded)).contains(HELLO);
  }

  @Test
  void anotherProgramsPrivateDataIsNone() {
    assertThat(Hello.read(ByteBuffer.allocate(0))).isEmpty();
    assertThat(Hello.read(ByteBuffer.allocate(56))).isEmpty();
  }

  @Test
  void anotherVersionIsNone() {
    assertThat(Hello.read(HELLO.write().putInt(4, 2))).isEmpty();
  }

  @Test
  void noRoomIsNone() {
    assertThat(Hello.read(new Hello(0, 4096).write())).isEmpty();
  }
}
