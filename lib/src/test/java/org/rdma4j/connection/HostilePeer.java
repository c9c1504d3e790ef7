package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.connection.wire.Offered;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.WorkCompletionException;

/** A peer by raw verbs: it sends what a test wants, and keeps to no protocol by itself. */
final class HostilePeer implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration FOR_A_CREDIT = Duration.ofMillis(200);
  private static final int DEPTH = 16;

  /** Its buffers are as short as they may be, so that it is offered the rest. */
  private static final Hello SHORT = new Hello(Hello.MIN_BUFFER_BYTES, 2, 8, 1 << 20);

  private final SynchronousCmId id;
  private final Hello hello;
  private final SimpleMessages queues;

  /** The next message to send, and what offers name: the server may read it. */
  private final MemoryRegion memory;

  private final MemoryRegion received;
  private @Nullable RdmaConnection accepted;

  /** The messages that it may send, if it keeps to that. */
  private int credits = Credits.FIRST_WINDOW;

  private HostilePeer(SynchronousCmId id, SimpleMessages queues, Hello hello, int receives) {
    this.id = id;
    this.hello = hello;
    this.queues = queues;
    this.memory = queues.domain().register(1 << 20, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    this.received = queues.registerMessages(Math.max(1, receives) * receiveBytes());
    for (int i = 0; i < receives; i++) {
      postReceive(i);
    }
  }

  private void postReceive(long index) {
    queues.postReceive(index, received.slice(index * receiveBytes(), receiveBytes()));
  }

  private long receiveBytes() {
    return (long) MessageHeader.BYTES + hello.bufferBytes();
  }

  /** Prepares a peer of a server, with a hello that need not be true, and some receives. */
  static HostilePeer prepare(InetSocketAddress server, Hello hello, int receives)
      throws InterruptedException, TimeoutException {
    SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP);
    boolean done = false;
    try {
      id.resolveAddress(server, PATIENCE);
      id.resolveRoute(PATIENCE);
      SimpleMessages queues = SimpleMessages.create(id.id(), DEPTH, Math.max(1, receives));
      HostilePeer peer = new HostilePeer(id, queues, hello, receives);
      done = true;
      return peer;
    } finally {
      if (!done) {
        id.close();
      }
    }
  }

  /** Connects a peer to a server, with a hello that need not be true, and some receives. */
  static HostilePeer connect(InetSocketAddress server, Hello hello, int receives)
      throws InterruptedException, TimeoutException {
    HostilePeer peer = prepare(server, hello, receives);
    boolean done = false;
    try {
      peer.id.connect(peer.parameters(), PATIENCE);
      done = true;
      return peer;
    } finally {
      if (!done) {
        peer.close();
      }
    }
  }

  /** Connects a peer with the shortest buffers to a server, which accepts it. */
  static HostilePeer withShortBuffers(RdmaServer server)
      throws InterruptedException, TimeoutException {
    HostilePeer peer = connect(server.localAddress(), SHORT, SHORT.receives());
    peer.accepted = server.accept(PATIENCE);
    return peer;
  }

  private ConnectionConfig parameters() {
    return ConnectionConfig.DEFAULT.privateData(hello.write());
  }

  /** Requests a connection, and never reads the answer. */
  void requestConnection() {
    id.id().connect(parameters());
  }

  /** Returns what it is connected to, for a peer {@link #withShortBuffers}. */
  RdmaConnection accepted() {
    return Objects.requireNonNull(accepted);
  }

  MemoryRegion memory() {
    return memory;
  }

  /** Returns requests for all that a message cannot do. */
  SendRequests requests() {
    return queues.queuePair().sendRequests(DEPTH);
  }

  /** Sends a message once it may; returns whether it has arrived: not if it may not in time. */
  boolean sendWithCredit(byte[] message) throws InterruptedException {
    try {
      while (credits == 0) {
        Optional<SimpleMessages.Completed> arrived = queues.awaitReceive(FOR_A_CREDIT);
        if (arrived.isEmpty()) {
          return false;
        }
        long index = arrived.orElseThrow().id();
        credits += MessageHeader.credits(received.segment(), index * receiveBytes());
        postReceive(index);
      }
    } catch (RdmaException ended) {
      return false;
    }
    credits--;
    return send(message);
  }

  /** Sends a message; returns whether it has arrived: not if the connection has ended. */
  boolean send(byte[] message) throws InterruptedException {
    MemorySegment.copy(MemorySegment.ofArray(message), 0, memory.segment(), 0, message.length);
    try {
      queues.postSend(1, memory.slice(0, message.length));
      // The device gives the request back only after this side has disconnected, too.
      while (!id.awaitDisconnected(Duration.ZERO)) {
        if (queues.awaitSend(Duration.ofMillis(10)).isPresent()) {
          return true;
        }
      }
    } catch (RdmaException ended) {
      // As above: it has not arrived.
    }
    return false;
  }

  /** Waits for the next message, with its header; returns nothing if none came in time. */
  Optional<MemorySegment> receive(Duration timeout) throws InterruptedException {
    return queues
        .awaitReceive(timeout)
        .map(each -> received.segment().asSlice(each.id() * receiveBytes(), receiveBytes()));
  }

  /** Returns whether the server has ended the connection, as far as this has received that. */
  boolean isEnded() throws InterruptedException {
    try {
      Optional<MemorySegment> arrived = receive(Duration.ZERO);
      while (arrived.isPresent()) {
        if (MessageHeader.kind(arrived.orElseThrow(), 0) == MessageKind.END.code()) {
          return true;
        }
        arrived = receive(Duration.ZERO);
      }
      return false;
    } catch (RdmaException ended) {
      return true;
    }
  }

  /** Waits for the next message, which is an offer. */
  Offered awaitOffer() throws InterruptedException {
    MemorySegment arrived = receive(PATIENCE).orElseThrow();
    assertThat(MessageHeader.flags(arrived, 0)).isEqualTo(MessageHeader.OFFER);
    return Offered.read(arrived.asSlice(MessageHeader.BYTES, Offer.BYTES).asByteBuffer());
  }

  /** Reads memory of the server, and returns the first byte; throws if the server refuses that. */
  byte read(long address, int key, int bytes) throws InterruptedException {
    queues.postRead(2, address, key, memory.slice(0, bytes));
    assertThat(queues.awaitSend(PATIENCE)).isPresent();
    return memory.byteBuffer().get(0);
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
    byte[] message = new byte[MessageHeader.BYTES];
    MessageHeader.write(MemorySegment.ofArray(message), 0, MessageKind.CONTROL, 0, 1, 1, 0);
    assertThat(send(message)).isTrue();
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
