package org.rdma4j.nio;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;

/** Channels while no memory can be registered, which the simulated adapter can bring about. */
@Tag("mlx5")
@Timeout(100)
final class MissingMemoryTest {
  private static Object adapter(String name, FunctionDescriptor shape, Object... arguments) {
    var symbol =
        SymbolLookup.libraryLookup(System.getenv("LD_PRELOAD"), Arena.global())
            .find(name)
            .orElseThrow();
    try {
      return Linker.nativeLinker().downcallHandle(symbol, shape).invokeWithArguments(arguments);
    } catch (Throwable failed) {
      throw new AssertionError(failed);
    }
  }

  private static void limit(long bytes) {
    adapter("mlx5sim_pin_limit", FunctionDescriptor.ofVoid(JAVA_LONG), bytes);
  }

  private static long registered() {
    return (long) adapter("mlx5sim_pinned", FunctionDescriptor.of(JAVA_LONG));
  }

  /** Takes the buffers that are registered and not in use, except for those of the protocol. */
  private static List<MessageBuffer> takeAll(SocketChannel channel) {
    Upgrade upgrade = Objects.requireNonNull(((StreamChannel) channel).upgrade().get());
    List<MessageBuffer> taken = new ArrayList<>();
    try {
      while (true) {
        taken.add(upgrade.stream().connection().allocateBuffer(1));
      }
    } catch (RdmaException noMemory) {
      return taken;
    }
  }

  @Test
  void aWriteForWhichThereIsNoMemoryHasNoRoomAndGoesOnLater() throws Exception {
    RdmaSelectorProvider provider = UpgradeTest.provider("");
    try (ServerSocketChannel listener = UpgradeTest.listen(provider);
        SocketChannel client = provider.openSocketChannel()) {
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.greet(client, server);
        UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
        client.configureBlocking(false);
        ByteBuffer bytes = ByteBuffer.allocate(16 << 10);
        int count = 0;
        limit(registered());
        List<MessageBuffer> rest = takeAll(client);
        int written = client.write(bytes.clear());
        while (written > 0) {
          count += written;
          written = client.write(bytes.clear());
        }
        assertThat(count).as("bytes written before memory was missing").isLessThan(1 << 20);
        client.configureBlocking(true);
        limit(-1);
        assertThat(client.write(bytes.clear())).isEqualTo(bytes.capacity());
        count += bytes.capacity();
        assertThat(UpgradeTest.read(server, count)).hasSize(count);
        rest.forEach(MessageBuffer::close);
      }
    } finally {
      limit(-1);
      provider.rendezvous().close();
    }
  }
}
