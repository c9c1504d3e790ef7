package org.rdma4j.connection;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.RemoteMemory;

/** Memory that is registered with a node, before it has any connection. */
@Tag("device")
final class NodeMemoryTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BYTES = 8192;

  private RdmaNode node;
  private RdmaServer listener;

  @BeforeEach
  void open() {
    node = RdmaNode.open();
    listener = node.bind(RdmaConnectionTest.local());
  }

  @AfterEach
  void close() {
    node.close();
  }

  /** Reads the first byte of the memory as a peer does. */
  private byte read(NodeMemory memory) throws Exception {
    try (RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE);
        MessageBuffer copy = client.allocateBuffer(1)) {
      RemoteMemory name = RemoteMemory.of(memory.region(server)).slice(0, 1);
      client.memory().read(name, copy.memory(), PATIENCE);
      return copy.byteBuffer().get(0);
    }
  }

  @Test
  void allocatedMemoryIsUsedByAllConnectionsOverADevice() throws Exception {
    NodeMemory memory = node.register(BYTES, AccessFlag.REMOTE_READ);
    memory.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
    assertThat(read(memory)).isEqualTo((byte) 42);
    assertThat(read(memory)).isEqualTo((byte) 42);
    try (RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE)) {
      assertThat(memory.region(client)).isSameAs(memory.region(server));
    }
  }

  @Test
  void aMappedFileIsReadByPeers() throws Exception {
    Path path = Files.createTempFile("rdma4j", ".mapped");
    try (Arena arena = Arena.ofShared();
        FileChannel file = FileChannel.open(path, READ, WRITE)) {
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
      NodeMemory memory = node.register(arena, mapped, AccessFlag.REMOTE_READ);
      mapped.set(ValueLayout.JAVA_BYTE, 0, (byte) 7);
      assertThat(memory.segment()).isSameAs(mapped);
      assertThat(read(memory)).isEqualTo((byte) 7);
    } finally {
      Files.delete(path);
    }
  }

  @Test
  void memoryThatIsNeverFreedNeedsNoArena() throws Exception {
    MemorySegment own = Arena.global().allocate(BYTES);
    own.set(ValueLayout.JAVA_BYTE, 0, (byte) 5);
    assertThat(read(node.register(own, AccessFlag.REMOTE_READ))).isEqualTo((byte) 5);
    try (Arena arena = Arena.ofShared()) {
      assertThatThrownBy(() -> node.register(arena.allocate(BYTES), AccessFlag.REMOTE_READ))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("pass the arena too");
    }
  }

  @Test
  void closedMemoryHasNoRegionAndAnotherNodesConnectionGetsNone() throws Exception {
    NodeMemory memory = node.register(BYTES, AccessFlag.REMOTE_READ);
    try (RdmaNode other = RdmaNode.open();
        RdmaConnection foreign = other.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE)) {
      assertThatThrownBy(() -> memory.region(foreign))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another node");
      var region = memory.region(server);
      memory.close();
      assertThatThrownBy(() -> memory.region(server))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
      assertThatThrownBy(region::checkOpen).isInstanceOf(IllegalStateException.class);
    }
    node.close();
    assertThatThrownBy(() -> node.register(BYTES)).isInstanceOf(IllegalStateException.class);
  }
}
