package org.rdma4j.misuse;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.ExposedMemory;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.LoopTimer;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.MessageHandler;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.NodeMemory;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.connection.RequestHandler;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.RemoteMemory;

/** The connections and their messages that all threads share, and arguments for their calls. */
final class ConnectionDraw {
  final Pool<RdmaNode> nodes = new Pool<>(2);
  final Pool<DrivenNode> drivenNodes = new Pool<>(1);
  final Pool<RdmaServer> servers = new Pool<>(2);
  final Pool<RdmaConnection> connections = new Pool<>(6);
  final Pool<MessageBuffer> messages = new Pool<>(8);
  final Pool<IncomingRequest> requests = new Pool<>(4);
  final Pool<IncomingConnection> incoming = new Pool<>(4);
  final Pool<LoopTimer> timers = new Pool<>(4);
  final Pool<ExposedMemory> exposed = new Pool<>(4);
  final Pool<NodeMemory> nodeMemories = new Pool<>(4);
  final Pool<RemoteMemory> names = new Pool<>(4);
  final Pool<ByteChannel> channels = new Pool<>(2);
  final Pool<InputStream> inputs = new Pool<>(2);
  final Pool<OutputStream> outputs = new Pool<>(2);
  private final Map<Class<?>, Pool<?>> pools =
      Map.ofEntries(
          Map.entry(RdmaNode.class, nodes),
          Map.entry(DrivenNode.class, drivenNodes),
          Map.entry(RdmaServer.class, servers),
          Map.entry(RdmaConnection.class, connections),
          Map.entry(MessageBuffer.class, messages),
          Map.entry(IncomingRequest.class, requests),
          Map.entry(IncomingConnection.class, incoming),
          Map.entry(LoopTimer.class, timers),
          Map.entry(ExposedMemory.class, exposed),
          Map.entry(NodeMemory.class, nodeMemories),
          Map.entry(RemoteMemory.class, names),
          Map.entry(ByteChannel.class, channels),
          Map.entry(InputStream.class, inputs),
          Map.entry(OutputStream.class, outputs));
  private final InetAddress host =
      Misuse.EFA ? InetAddress.getLoopbackAddress() : DeviceAddress.ipv4();

  InetSocketAddress anyPort() {
    return new InetSocketAddress(host, 0);
  }

  InetSocketAddress address(Draw d) {
    return switch (d.random.nextInt(16)) {
      case 0 -> InetSocketAddress.createUnresolved("nowhere.invalid", 1);
      case 1 -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      case 2 -> new InetSocketAddress(host, 1); // where nothing listens
      case 3 -> new InetSocketAddress(0);
      case 4, 5, 6 -> anyPort();
      default -> d.any(servers).localAddress();
    };
  }

  /** Returns a configuration that does not take much memory, nor waits for long. */
  NodeConfig config(Draw d) {
    return NodeConfig.DEFAULT
        .bufferBytes(d.yes() ? 64 : 64 * d.few())
        .receives(1 + d.few())
        .sends(1 + d.few())
        .pollers(1 + d.random.nextInt(2))
        .maxBuffers(d.yes() ? 64 : 256)
        .maxMessageBytes(d.oneIn(8) ? d.few() : 1 << 20)
        .initialMessageBytes(d.oneIn(8) ? d.few() : 0)
        .handshakeTimeout(Duration.ofSeconds(d.few()))
        .closeTimeout(d.patience().abs().multipliedBy(d.few()))
        .keepAlive(d.yes() ? Duration.ZERO : Duration.ofMillis(d.few()));
  }

  ByteBuffer bytes(Draw d) {
    int length = d.oneIn(32) ? d.random.nextInt(3 << 20) : d.random.nextInt(3000);
    ByteBuffer bytes = d.yes() ? ByteBuffer.allocate(length) : ByteBuffer.allocateDirect(length);
    bytes.position(d.random.nextInt(length + 1) / 4);
    return d.oneIn(8) ? bytes.asReadOnlyBuffer() : bytes;
  }

  /** Returns the name of memory that a peer may use, or no longer, or never could. */
  RemoteMemory remoteMemory(Draw d) {
    return switch (d.random.nextInt(8)) {
      case 0 -> new RemoteMemory(d.bytes(), d.number(), Math.abs(d.bytes()));
      case 1 -> RemoteMemory.of(d.any(d.objects.regions));
      case 2, 3 -> d.any(names);
      default -> d.any(exposed).name();
    };
  }

  MessageHandler messageHandler(Draw d) {
    int kind = d.random.nextInt(8);
    Random random = later(d);
    return message -> {
      switch (kind) {
        case 0 -> throw new IllegalStateException("a handler that throws");
        case 1 -> add(random, messages, message);
        case 2 -> useInHandler(random, message);
        default -> message.close();
      }
    };
  }

  /** Some use the bytes after the handler has returned, when they are those of other messages. */
  Consumer<ByteBuffer> bytesHandler(Draw d) {
    int kind = d.random.nextInt(8);
    AtomicReference<ByteBuffer> before = new AtomicReference<>();
    RdmaConnection to = d.any(connections);
    return bytes -> {
      switch (kind) {
        case 0 -> throw new IllegalStateException("a handler that throws");
        case 1 -> to.sendAsync(bytes, 0, (token, failure) -> {});
        case 2 -> {
          ByteBuffer stale = before.getAndSet(bytes);
          if (stale != null && stale.hasRemaining()) {
            stale.get();
          }
        }
        default -> bytes.position(bytes.limit());
      }
    };
  }

  LongConsumer noticeHandler(Draw d) {
    int kind = d.random.nextInt(8);
    return notice -> {
      if (kind == 0) {
        throw new IllegalStateException("a handler that throws");
      }
    };
  }

  RequestHandler requestHandler(Draw d) {
    int kind = d.random.nextInt(8);
    Random random = later(d);
    return request -> {
      switch (kind) {
        case 0 -> throw new IllegalStateException("a handler that throws");
        case 1 -> request.refuse("a refusal");
        case 2 -> useInHandler(random, request.message());
        case 3 -> request.answer(ByteBuffer.allocate(10));
        case 4 -> request.answer(request.message());
        default -> add(random, requests, request);
      }
    };
  }

  /** Accepts or rejects a peer: now, later, or never. */
  Consumer<IncomingConnection> connectHandler(Draw d) {
    int kind = d.random.nextInt(8);
    RdmaNode node = d.any(nodes);
    Random random = later(d);
    return asking -> {
      switch (kind) {
        case 0 -> throw new IllegalStateException("a handler that throws");
        case 1, 2 -> add(random, incoming, asking);
        case 3 -> asking.reject("a refusal");
        case 4 -> keepOutcome(random, asking.accept(node));
        default -> keepOutcome(random, asking.accept());
      }
    };
  }

  OperationHandler operationHandler(Draw d) {
    int kind = d.random.nextInt(8);
    Random random = later(d);
    return (token, failure) -> {
      if (kind == 0) {
        throw new IllegalStateException("a handler that throws");
      }
      if (kind == 1) {
        useInHandler(random, messages.any(random));
      }
    };
  }

  /** Makes a call that a handler may make, or that must be refused there. */
  private void useInHandler(Random random, MessageBuffer message) {
    RdmaConnection connection = connections.any(random);
    try {
      switch (random.nextInt(6)) {
        case 0 -> connection.send(message, Duration.ofMillis(1));
        case 1 -> connection.receive().ifPresent(MessageBuffer::close);
        case 2 -> connection.close();
        case 3 -> connection.sendAsync(message, 1, (token, failure) -> {});
        case 4 -> connection.endOutput();
        default -> message.close();
      }
    } catch (InterruptedException | TimeoutException refused) {
      throw new IllegalStateException(refused);
    }
  }

  /** Keeps what a call returned for later calls. */
  void keep(Draw d, Object result) throws Exception {
    if (result instanceof Optional<?> some) {
      keep(d, some.orElse(null));
    } else if (result instanceof CompletableFuture<?> future) {
      keepOutcome(later(d), future);
    } else {
      for (Map.Entry<Class<?>, Pool<?>> each : pools.entrySet()) {
        if (each.getKey().isInstance(result)) {
          @SuppressWarnings("unchecked") // the pool of its type
          Pool<Object> pool = (Pool<Object>) each.getValue();
          d.add(pool, result);
        }
      }
    }
  }

  private void keepOutcome(Random random, CompletableFuture<?> future) {
    var unused = future.thenAccept(value -> keepValue(random, value));
  }

  private void keepValue(Random random, Object value) {
    if (value instanceof MessageBuffer message) {
      add(random, messages, message);
    } else if (value instanceof RdmaConnection connection) {
      add(random, connections, connection);
    }
  }

  /** Returns what draws in other threads, so that those do not disturb the draws of this one. */
  private static Random later(Draw d) {
    return new Random(d.random.nextLong());
  }

  private static <T> void add(Random random, Pool<T> pool, T object) {
    try {
      pool.add(random, object);
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  void closeAll() throws Exception {
    messages.closeAll();
    exposed.closeAll();
    nodeMemories.closeAll();
    connections.closeAll();
    servers.closeAll();
    nodes.closeAll();
    drivenNodes.closeAll();
    RdmaNode.shared().close();
  }
}
