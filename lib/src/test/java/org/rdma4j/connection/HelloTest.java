package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class HelloTest {
  private static final Hello HELLO = new Hello(16, 4096);

  @Test
  void whatIsWrittenIsReadEvenWithZerosBehindIt() {
    ByteBuffer padded = ByteBuffer.allocate(56).put(HELLO.write()).rewind();
    assertThat(Hello.read(padded)).contains(HELLO);
  }

  @Test
  void anotherProgramsPrivateDataIsNotRead() {
    assertThat(Hello.read(ByteBuffer.allocate(0))).isEmpty();
    assertThat(Hello.read(ByteBuffer.allocate(56))).isEmpty();
  }

  @Test
  void anotherVersionIsNotRead() {
    assertThat(Hello.read(HELLO.write().putInt(4, 2))).isEmpty();
  }

  @Test
  void aPeerWithoutReceivesIsNotRead() {
    assertThat(Hello.read(new Hello(0, 4096).write())).isEmpty();
  }
}
