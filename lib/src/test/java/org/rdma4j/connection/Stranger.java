package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * A peer by raw verbs, whose buffers are as short as they may be, so that it is offered the rest.
 */
final class Stranger implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int RECEIVES = 8;
  private static final int RECEIVE = MessageHeader.BYTES + Hello.MIN_BUFFER_BYTES;
  private static final int READ = 4096;

  private final SynchronousCmId id;
  private final SimpleMessages queues;
  private final MemoryRegion memory;

  /** What it is connected to. */
  final RdmaConnection accepted;

  Stranger(RdmaServer server) throws InterruptedException, TimeoutException {
    id = SynchronousCmId.open(PortSpace.TCP);
    id.resolveAddress(server.localAddress(), PATIENCE);
    id.resolveRoute(PATIENCE);
    queues = SimpleMessages.create(id.id(), 16, 16);
    memory = queues.registerMessages(2 * READ);
    for (int i = 0; i < RECEIVES; i++) {
      queues.postReceive(i, memory.slice((long) i * RECEIVE, RECEIVE));
    }
    Hello hello = new Hello(Hello.MIN_BUFFER_BYTES, 2, RECEIVES, 1 << 20);
    id.connect(ConnectionConfig.DEFAULT.privateData(hello.write()), PATIENCE);
    accepted = server.accept(PATIENCE);
  }

  /** Waits for the next message, which is an offer. */
  Offer awaitOffer() throws InterruptedException {
    long at = queues.awaitReceive(PATIENCE).orElseThrow().id() * RECEIVE;
    MemorySegment arrived = memory.segment();
    assertThat(MessageHeader.flags(arrived, at)).isEqualTo(MessageHeader.OFFER);
    return Objects.requireNonNull(
        Offer.read(arrived.asSlice(at + MessageHeader.BYTES, Offer.BYTES).asByteBuffer()));
  }

  /** Reads memory of the server, and returns the first byte; throws if the server refuses that. */
  byte read(long address, int key, int bytes) throws InterruptedException {
    queues.postRead(100, address, key, memory.slice(READ, bytes));
    assertThat(queues.awaitSend(PATIENCE)).isPresent();
    return memory.byteBuffer().get(READ);
  }

  /** Returns whether the server refuses a read, which ends the connection. */
  boolean isRefused(long address, int key, int bytes) throws InterruptedException {
    try {
      read(address, key, bytes);
      return false;
    } catch (WorkCompletionException refused) {
      return true;
    }
  }

  /** Reports that it has fetched the next offer, whether it has or not, and grants a credit. */
  void report() throws InterruptedException {
    MessageHeader.write(
        memory.segment(), 2 * READ - MessageHeader.BYTES, MessageKind.CONTROL, 0, 1, 1, 0);
    queues.postSend(101, memory.slice(2 * READ - MessageHeader.BYTES, MessageHeader.BYTES));
    assertThat(queues.awaitSend(PATIENCE)).isPresent();
  }

  /** Ends without a goodbye. */
  void vanish() {
    close();
  }

  @Override
  public void close() {
    queues.close();
    id.close();
  }
}
