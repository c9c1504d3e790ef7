package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.TransportType;

/** Two connected queue pairs of one device, each with its own completion queue and memory. */
public final class Loopback implements AutoCloseable {
  /** The access of a region for all operations. */
  static final AccessFlag[] ALL = {
    AccessFlag.LOCAL_WRITE,
    AccessFlag.REMOTE_READ,
    AccessFlag.REMOTE_WRITE,
    AccessFlag.REMOTE_ATOMIC
  };

  public static final int DEPTH = 16;
  public static final int REGION_BYTES = 1 << 21;

  /** The longest time to wait for completions: an emulated guest may stop for seconds. */
  public static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Connects the queue pairs over iWARP, where they have no addresses to exchange. */
  private final Optional<ManagedPair> managed;

  private final QueueAccess access;

  public final RdmaDevice device;
  public final ProtectionDomain domain;
  public final End a;
  public final End b;

  /** One end of the connection, with everything that a program has on its side. */
  public final class End {
    public final CompletionChannel channel = device.createCompletionChannel();
    public final CompletionQueue queue =
        device.createCompletionQueue(
            CompletionQueueConfig.of(4 * DEPTH).channel(channel).access(access));
    public final MemoryRegion region = domain.register(REGION_BYTES, AccessFlag.LOCAL_WRITE);
    public final QueuePair queuePair;
    public final SendRequests sends;
    public final ReceiveRequests receives;
    public final Completions completions = queue.completions(2 * DEPTH);

    End(UnaryOperator<QueuePairConfig> config, Creation creation) {
      queuePair = creation.create(domain, config.apply(config(queue)));
      sends = queuePair.sendRequests(Math.min(DEPTH, queuePair.capabilities().sendDepth()));
      receives =
          queuePair.receiveRequests(Math.min(DEPTH, queuePair.capabilities().receiveDepth()));
    }

    public QueuePairAddress address() {
      return Loopback.this.address(queuePair);
    }

    /** Posts a receive into the region. */
    public void receive(long id, long offset, long length) {
      receives.add(id).into(region, offset, length);
      receives.post();
    }

    /** Polls until that many completions have come, and returns them. */
    public List<Done> await(int expected) {
      return Loopback.await(completions, expected);
    }
  }

  /** Returns the next completions of a queue that no other code polls. */
  public static List<Done> await(CompletionQueue queue, int expected) {
    return await(queue.completions(1), expected);
  }

  private static List<Done> await(Completions completions, int expected) {
    List<Done> done = new ArrayList<>();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (done.size() < expected) {
      int polled = completions.poll();
      for (int i = 0; i < polled; i++) {
        done.add(new Done(completions, i));
      }
      if (System.nanoTime() - deadline > 0) {
        fail("%d of %d completions came within %s: %s", done.size(), expected, PATIENCE, done);
      }
      if (polled == 0) {
        LockSupport.parkNanos(20_000);
      }
    }
    return done;
  }

  /** A copy of a completion, which the next poll does not overwrite. */
  public record Done(
      long id,
      CompletionStatus status,
      CompletionOpcode opcode,
      long length,
      boolean hasImmediate,
      int immediate,
      int queuePair) {
    Done(Completions completions, int i) {
      this(
          completions.workRequestId(i),
          completions.status(i),
          completions.opcode(i),
          completions.byteLength(i),
          completions.hasImmediate(i),
          completions.immediate(i),
          completions.queuePairNumber(i));
    }
  }

  private interface Creation {
    QueuePair create(ProtectionDomain domain, QueuePairConfig config);
  }

  private Loopback(UnaryOperator<QueuePairConfig> config, QueueAccess access) {
    this.access = access;
    managed = isIwarp() ? Optional.of(new ManagedPair()) : Optional.empty();
    device = managed.map(ManagedPair::device).orElseGet(Loopback::openDevice);
    boolean done = false;
    try {
      domain = device.allocateProtectionDomain();
      if (managed.isPresent()) {
        ManagedPair pair = managed.get();
        a = new End(config, pair::createClient);
        pair.request();
        b = new End(config, pair::createServer);
      } else {
        a = new End(config, ProtectionDomain::createQueuePair);
        b = new End(config, ProtectionDomain::createQueuePair);
      }
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  private static boolean isIwarp() {
    return RdmaDevice.list().getFirst().transport() == TransportType.IWARP;
  }

  public static RdmaDevice openDevice() {
    return RdmaDevice.open(RdmaDevice.list().getFirst().name());
  }

  /** All operations that the device can post on a reliable connection by {@code ibv_wr_*}. */
  public static SendOperation[] operations() {
    EnumSet<SendOperation> lacking = EnumSet.of(SendOperation.SEGMENTED_SEND, SendOperation.FLUSH);
    if (RdmaDevice.list().getFirst().name().startsWith("mlx5")) {
      lacking.add(SendOperation.ATOMIC_WRITE);
    }
    return EnumSet.complementOf(lacking).toArray(new SendOperation[0]);
  }

  public static QueuePairConfig config(CompletionQueue queue) {
    return QueuePairConfig.reliable(queue)
        .sendDepth(DEPTH)
        .receiveDepth(DEPTH)
        .sendSges(4)
        .receiveSges(4)
        .inlineBytes(64);
  }

  /** Returns the index of the RoCE v2 GID of an IPv4 address, or of the first GID. */
  public static int gidIndex(RdmaDevice device) {
    List<GidEntry> gids = device.port(1).gids();
    return gids.stream()
        .filter(entry -> entry.type() == GidType.ROCE_V2)
        .filter(entry -> entry.gid().toString().startsWith("::ffff:"))
        .findFirst()
        .orElseGet(gids::getFirst)
        .index();
  }

  public static Loopback connected() {
    return connected(config -> config);
  }

  public static Loopback connected(UnaryOperator<QueuePairConfig> config) {
    return connected(config, path -> path);
  }

  public static Loopback connected(
      UnaryOperator<QueuePairConfig> config, UnaryOperator<PathConfig> path) {
    return connect(unconnected(config), path);
  }

  /** Connects queue pairs whose queues are used in place. */
  static Loopback connectedInPlace(UnaryOperator<QueuePairConfig> config) {
    return connect(new Loopback(config, QueueAccess.IN_PLACE), path -> path);
  }

  private static Loopback connect(Loopback loopback, UnaryOperator<PathConfig> path) {
    if (loopback.managed.isPresent()) {
      loopback.managed.get().accept();
      return loopback;
    }
    loopback.a.queuePair.connect(path.apply(loopback.path(loopback.b.address())));
    loopback.b.queuePair.connect(path.apply(loopback.path(loopback.a.address())));
    return loopback;
  }

  public static Loopback unconnected() {
    return unconnected(config -> config);
  }

  public static Loopback unconnected(UnaryOperator<QueuePairConfig> config) {
    return new Loopback(config, QueueAccess.DEFAULT);
  }

  /** Returns the address of a queue pair of this device, with the GID that paths use here. */
  public QueuePairAddress address(QueuePair queuePair) {
    return queuePair.address(1, gidIndex(device));
  }

  PathConfig path(QueuePairAddress remote) {
    return PathConfig.to(remote).gidIndex(gidIndex(device)).minimumRnrTimer(1);
  }

  @Override
  public void close() {
    managed.ifPresent(ManagedPair::close);
    device.close();
  }
}
