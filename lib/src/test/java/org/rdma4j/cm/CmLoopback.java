package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.fail;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
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
import org.rdma4j.verbs.SendRequests;

/** Both sides of connections and datagrams on this machine's RDMA device. */
final class CmLoopback {
  /** Long, because an emulated guest may stop for seconds. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  static final int DEPTH = 16;

  private CmLoopback() {}

  static InetAddress host() {
    return DeviceAddress.ipv4();
  }

  static InetSocketAddress address(int port) {
    return new InetSocketAddress(host(), port);
  }

  /** Returns an identifier that listens on a port that the system chose. */
  static SynchronousCmId listener(PortSpace space) {
    return listener(space, host());
  }

  static SynchronousCmId listener(PortSpace space, InetAddress host) {
    SynchronousCmId listener = SynchronousCmId.open(space);
    listener.id().bind(new InetSocketAddress(host, 0));
    listener.id().listen(8);
    return listener;
  }

  static InetSocketAddress address(SynchronousCmId listener) {
    return listener.id().localAddress();
  }

  /** Returns an identifier that has resolved the address and the route. */
  static SynchronousCmId resolved(PortSpace space, InetSocketAddress to)
      throws InterruptedException, TimeoutException {
    SynchronousCmId client = SynchronousCmId.open(space);
    client.resolveAddress(to, PATIENCE);
    client.resolveRoute(PATIENCE);
    return client;
  }

  /** What one side creates for its identifier. Closing it closes all but the identifier. */
  static final class Side implements AutoCloseable {
    final CompletionQueue queue;
    final ProtectionDomain domain;
    final MemoryRegion region;
    final QueuePair queuePair;
    final SendRequests sends;
    final ReceiveRequests receives;
    final Completions completions;

    Side(CmId id) {
      queue = id.device().createCompletionQueue(4 * DEPTH);
      domain = id.device().allocateProtectionDomain();
      region =
          domain.register(
              1 << 16,
              AccessFlag.LOCAL_WRITE,
              AccessFlag.REMOTE_READ,
              AccessFlag.REMOTE_WRITE,
              AccessFlag.REMOTE_ATOMIC);
      queuePair = createQueuePair(id);
      sends = queuePair.sendRequests(DEPTH);
      receives = queuePair.receiveRequests(DEPTH);
      completions = queue.completions(DEPTH);
    }

    private QueuePair createQueuePair(CmId id) {
      try {
        return id.createQueuePair(domain, config(id, queue));
      } catch (RuntimeException refused) {
        close();
        throw refused;
      }
    }

    static QueuePairConfig config(CmId id, CompletionQueue queue) {
      return QueuePairConfig.of(id.queuePairType(), queue, queue)
          .sendDepth(DEPTH)
          .receiveDepth(DEPTH);
    }

    void receive(long id, long offset, long length) {
      receives.add(id).into(region, offset, length);
      receives.post();
    }

    void send(long id, long offset, long length) {
      sends.add(id).send().signaled().from(region, offset, length);
      sends.post();
    }

    /** Polls until that many requests have succeeded, and returns their opcodes. */
    List<CompletionOpcode> await(int expected) {
      List<CompletionOpcode> done = new ArrayList<>();
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (done.size() < expected) {
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
          completions.requireSuccess(i);
          done.add(completions.opcode(i));
        }
        if (System.nanoTime() - deadline > 0) {
          fail("%d of %d completions came: %s", done.size(), expected, done);
        }
        if (polled == 0) {
          LockSupport.parkNanos(20_000);
        }
      }
      return done;
    }

    @Override
    public void close() {
      queue.close();
      domain.close();
    }
  }

  /** Both sides of a connection or of datagrams. */
  record Pair(
      SynchronousCmId listener,
      SynchronousCmId client,
      SynchronousCmId server,
      Side a,
      Side b,
      CmEvent.Established established)
      implements AutoCloseable {
    @Override
    public void close() {
      a.close();
      b.close();
      client.close();
      server.close();
      listener.close();
    }
  }

  static Pair connected(PortSpace space) throws Exception {
    return connected(space, ConnectionConfig.DEFAULT, ConnectionConfig.DEFAULT);
  }

  static Pair connected(PortSpace space, ConnectionConfig request, ConnectionConfig answer)
      throws Exception {
    return connected(listener(space), space, request, answer);
  }

  static Pair connected(
      SynchronousCmId listener, PortSpace space, ConnectionConfig request, ConnectionConfig answer)
      throws Exception {
    return connected(listener, resolved(space, address(listener)), space, request, answer);
  }

  static Pair connected(
      SynchronousCmId listener,
      SynchronousCmId client,
      PortSpace space,
      ConnectionConfig request,
      ConnectionConfig answer)
      throws Exception {
    Side a = new Side(client.id());
    FutureTask<CmEvent.Established> connect = start(() -> client.connect(request, PATIENCE));
    SynchronousCmId server = listener.awaitRequest(PATIENCE).orElseThrow();
    Side b = new Side(server.id());
    server.accept(
        space.isDatagram() ? answer.queuePairNumber(b.queuePair.number()) : answer, PATIENCE);
    return new Pair(listener, client, server, a, b, get(connect));
  }

  static <T> FutureTask<T> start(Callable<T> call) {
    FutureTask<T> task = new FutureTask<>(call);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  static <T> T get(FutureTask<T> task) throws Exception {
    return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }
}
