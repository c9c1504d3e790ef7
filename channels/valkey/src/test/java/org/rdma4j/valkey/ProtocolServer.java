package org.rdma4j.valkey;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.SendRequests;

/** Listens as a Valkey server does, and lets a test speak the server's part of the protocol. */
final class ProtocolServer implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final int RECEIVES = 256;
  private static final int STAGING = 1 << 16;

  private final SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP);
  private final int bufferBytes;

  ProtocolServer(int bufferBytes) {
    this.bufferBytes = bufferBytes;
    listener.id().bind(new InetSocketAddress(DeviceAddress.ipv4(), 0));
    listener.id().listen(8);
  }

  InetSocketAddress address() {
    return listener.id().localAddress();
  }

  /** What the server does with a connection, in a thread of its own. */
  interface Part {
    void play(Peer peer) throws Exception;
  }

  /** Accepts a connection, does nothing else before the part, and closes it after the part. */
  FutureTask<Void> accept(Part part) {
    return start(
        () -> {
          try (SynchronousCmId id = listener.awaitRequest(PATIENCE).orElseThrow();
              Peer peer = new Peer(id)) {
            id.accept(ConnectionConfig.DEFAULT, PATIENCE);
            part.play(peer);
            return null;
          }
        });
  }

  /** Accepts a connection and exchanges features before the part. */
  FutureTask<Void> serve(Part part) {
    return accept(
        peer -> {
          peer.exchange();
          part.play(peer);
        });
  }

  static <T> FutureTask<T> start(Callable<T> call) {
    FutureTask<T> task = new FutureTask<>(call);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  static <T> T get(FutureTask<T> task) throws Exception {
    return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    listener.close();
  }

  /** The server's end of a connection. */
  final class Peer implements AutoCloseable {
    final SynchronousCmId id;
    final ProtectionDomain domain;
    final MemoryRegion buffer;
    final MemoryRegion staging;
    final Deque<Integer> controls = new ArrayDeque<>();
    private final CompletionQueue queue;
    private final Completions completions;
    private final MemoryRegion messages;
    private final SendRequests sends;
    private final ReceiveRequests receives;
    @Nullable RemoteMemory clientBuffer;
    long clientBufferUsed;
    long announced;
    long read;
    private long posted;
    private long completed;

    Peer(SynchronousCmId id) {
      this.id = id;
      domain = id.id().device().allocateProtectionDomain();
      queue = id.id().device().createCompletionQueue(RECEIVES + 8);
      completions = queue.completions(32);
      QueuePair queuePair =
          id.id()
              .createQueuePair(
                  domain, QueuePairConfig.reliable(queue).sendDepth(8).receiveDepth(RECEIVES));
      buffer = domain.register(bufferBytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      staging = domain.register(STAGING);
      messages = domain.register(RECEIVES * ControlMessage.BYTES, AccessFlag.LOCAL_WRITE);
      sends = queuePair.sendRequests(1);
      receives = queuePair.receiveRequests(RECEIVES);
      for (int i = 0; i < RECEIVES; i++) {
        receive(i);
      }
      receives.post();
    }

    private void receive(long message) {
      receives
          .add(-1 - message)
          .into(messages, message * ControlMessage.BYTES, ControlMessage.BYTES);
    }

    void exchange() throws Exception {
      answerFeatures();
      register(RemoteMemory.of(buffer));
      awaitControl(ControlMessage.SET_CLIENT_FEATURE);
      await(() -> clientBuffer != null);
    }

    void answerFeatures() throws Exception {
      awaitControl(ControlMessage.GET_SERVER_FEATURE);
      control(ControlMessage.GET_SERVER_FEATURE);
    }

    void awaitControl(int kind) throws Exception {
      await(() -> controls.remove(kind));
    }

    void register(RemoteMemory name) throws Exception {
      ControlMessage.write(staging.segment(), name);
      send(ControlMessage.BYTES);
    }

    void control(int kind) throws Exception {
      ControlMessage.write(staging.segment(), kind);
      send(ControlMessage.BYTES);
    }

    void send(int bytes) throws Exception {
      sends.add(0).send().from(staging, 0, bytes);
      post();
    }

    void sendWithImmediate(int bytes, int immediate) throws Exception {
      sends.add(0).sendWithImmediate(immediate).from(staging, 0, bytes);
      post();
    }

    /** Writes so many bytes to the client, and announces any number of them. */
    void writeAt(long address, int key, int bytes, int immediate) throws Exception {
      sends.add(0).writeWithImmediate(address, key, immediate).from(staging, 0, bytes);
      post();
    }

    RemoteMemory clientBuffer() {
      RemoteMemory known = clientBuffer;
      if (known == null) {
        throw new IllegalStateException("the client has named no buffer yet");
      }
      return known;
    }

    private void post() throws Exception {
      sends.signaled().post();
      posted++;
      await(() -> completed == posted);
    }

    /** Writes as an honest server does. */
    void write(byte[] bytes, int length) throws Exception {
      int written = 0;
      while (written < length) {
        await(() -> clientBufferUsed < clientBuffer().length());
        int piece =
            (int)
                Math.min(
                    Math.min(STAGING, length - written),
                    clientBuffer().length() - clientBufferUsed);
        MemorySegment.copy(bytes, written, staging.segment(), JAVA_BYTE, 0, piece);
        long at = clientBuffer().address() + clientBufferUsed;
        clientBufferUsed += piece;
        writeAt(at, clientBuffer().key(), piece, piece);
        written += piece;
      }
    }

    /** Reads what the client has written; returns how many bytes. */
    int read(byte[] target) throws Exception {
      await(() -> announced > read);
      int bytes = (int) Math.min(target.length, announced - read);
      MemorySegment.copy(buffer.segment(), JAVA_BYTE, read, target, 0, bytes);
      read += bytes;
      if (read == bufferBytes) {
        read = 0;
        announced = 0;
        register(RemoteMemory.of(buffer));
      }
      return bytes;
    }

    /** Writes back what it reads, that many bytes. */
    void echo(long bytes) throws Exception {
      byte[] piece = new byte[STAGING];
      for (long left = bytes; left > 0; ) {
        int length = read(piece);
        write(piece, length);
        left -= length;
      }
    }

    void await(BooleanSupplier condition) throws Exception {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - deadline > 0) {
          throw new AssertionError("the client did not do what it has to, within " + PATIENCE);
        }
        if (poll() == 0) {
          LockSupport.parkNanos(20_000);
        }
      }
    }

    private int poll() {
      int polled = completions.poll();
      for (int i = 0; i < polled; i++) {
        completions.requireSuccess(i);
        long request = completions.workRequestId(i);
        if (request >= 0) {
          completed++;
          continue;
        }
        if (completions.opcode(i) == CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
          announced += Integer.toUnsignedLong(completions.immediate(i));
        } else {
          received(-1 - request);
        }
        receive(-1 - request);
      }
      receives.post();
      return polled;
    }

    private void received(long message) {
      MemorySegment bytes =
          messages.segment().asSlice(message * ControlMessage.BYTES, ControlMessage.BYTES);
      int kind = ControlMessage.kind(bytes);
      if (kind == ControlMessage.REGISTER_XFER_MEMORY) {
        clientBuffer = ControlMessage.buffer(bytes);
        clientBufferUsed = 0;
      } else {
        controls.add(kind);
      }
    }

    @Override
    public void close() {
      queue.close();
      domain.close();
    }
  }
}
