package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

final class RemoteMemoryTest {
  @Property
  void whatIsWrittenIsRead(
      @ForAll long address, @ForAll int key, @ForAll @LongRange(min = 0) long length) {
    RemoteMemory memory = new RemoteMemory(address, key, length);
    // The byte order of the buffer must not matter.
    ByteBuffer bytes = ByteBuffer.allocate(RemoteMemory.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    memory.write(bytes);
    assertThat(RemoteMemory.read(bytes.flip())).isEqualTo(memory);
  }

  @Test
  void itIsSerializable() throws Exception {
    RemoteMemory memory = new RemoteMemory(-4096, 7, 100);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(memory);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(in.readObject()).isEqualTo(memory);
    }
  }

  @Test
  void aPartMustLieWithinTheMemory() {
    RemoteMemory memory = new RemoteMemory(1000, 7, 100);
    assertThat(memory.slice(10, 90)).isEqualTo(new RemoteMemory(1010, 7, 90));
    assertThatThrownBy(() -> memory.slice(10, 91))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("offset 10 and length 91 are not within the 100 bytes of the remote memory");
    assertThatThrownBy(() -> memory.slice(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> memory.slice(Long.MAX_VALUE, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aNegativeLengthIsRefused() {
    assertThatThrownBy(() -> new RemoteMemory(0, 0, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
  }
}
