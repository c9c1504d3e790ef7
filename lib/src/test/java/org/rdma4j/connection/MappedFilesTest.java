package org.rdma4j.connection;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.RemoteMemory;

/** What docs/guide/memory.md says of mapped files: the kernel decides it. */
@Tag("device")
@Tag("kernel")
final class MappedFilesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BYTES = 8192;

  @TempDir private Path directory;
  private Path path;
  private RdmaNode node;
  private RdmaConnection client;
  private RdmaConnection server;

  @BeforeEach
  void open() throws Exception {
    byte[] content = new byte[BYTES];
    Arrays.fill(content, (byte) 7);
    path = Files.write(directory.resolve("mapped"), content);
    node = RdmaNode.open();
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local())) {
      client = node.connect(listener.localAddress(), PATIENCE);
      server = listener.accept(PATIENCE);
    }
  }

  @AfterEach
  void close() {
    node.close();
  }

  private MemorySegment map(MapMode mode, Arena arena) throws Exception {
    try (FileChannel file =
        mode == MapMode.READ_ONLY
            ? FileChannel.open(path, READ)
            : FileChannel.open(path, READ, WRITE)) {
      return file.map(mode, 0, BYTES, arena);
    }
  }

  private byte read(NodeMemory memory) throws Exception {
    try (MessageBuffer copy = client.allocateBuffer(1)) {
      RemoteMemory name = RemoteMemory.of(memory.region(server)).slice(0, 1);
      client.memory().read(name, copy.memory(), PATIENCE);
      return copy.byteBuffer().get(0);
    }
  }

  /** Since Linux 6.2, memory that the device only reads is not pinned for writes. */
  private static boolean pinsForReads() {
    String[] version = System.getProperty("os.version").split("[.-]", -1);
    int major = Integer.parseInt(version[0]);
    return major > 6 || (major == 6 && Integer.parseInt(version[1]) >= 2);
  }

  @Test
  void aFileThatIsMappedReadOnlyIsReadByPeersSinceLinux62() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment mapped = map(MapMode.READ_ONLY, arena);
      if (pinsForReads()) {
        assertThat(read(node.register(arena, mapped, AccessFlag.REMOTE_READ))).isEqualTo((byte) 7);
      } else {
        assertThatThrownBy(() -> node.register(arena, mapped, AccessFlag.REMOTE_READ))
            .isInstanceOf(RdmaException.class)
            .hasMessageContaining("EFAULT");
      }
    }
  }

  @Test
  void aFileThatIsMappedForWritesIsReadByPeers() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment mapped = map(MapMode.READ_WRITE, arena);
      assertThat(read(node.register(arena, mapped, AccessFlag.REMOTE_READ))).isEqualTo((byte) 7);
    }
  }

  @Test
  void whatAPeerWritesToAPrivateMappingDoesNotReachTheFile() throws Exception {
    try (Arena arena = Arena.ofShared();
        MessageBuffer data = client.allocateBuffer(1)) {
      MemorySegment mapped = map(MapMode.PRIVATE, arena);
      NodeMemory memory =
          node.register(
              arena,
              mapped,
              AccessFlag.LOCAL_WRITE,
              AccessFlag.REMOTE_READ,
              AccessFlag.REMOTE_WRITE);
      assertThat(read(memory)).isEqualTo((byte) 7);
      data.byteBuffer().put(0, (byte) 8);
      RemoteMemory name = RemoteMemory.of(memory.region(server)).slice(0, 1);
      client.memory().write(data.memory(), name, PATIENCE);
      assertThat(read(memory)).isEqualTo((byte) 8);
    }
    assertThat(Files.readAllBytes(path)[0]).isEqualTo((byte) 7);
  }
}
