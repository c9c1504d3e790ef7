package org.rdma4j.connection;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.session.Exposure;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.MemoryWindow;
import org.rdma4j.verbs.MemoryWindowType;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.attribute.DeviceCapability;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * Exposes ranges of memory to peers, each to the peer of one connection: by a memory window of type
 * 2, which grants exactly the range, to that queue pair alone. If the device has no such windows,
 * or the region cannot be bound, the range is registered as a region of its own, whose key is valid
 * for all queue pairs of the domain.
 *
 * <p>Windows are kept after use, because their allocation is a call of the kernel.
 */
final class Exposures {
  /** The vendor of soft-RoCE, whose windows grant the whole region that they are bound to. */
  private static final int SOFT_ROCE = 0xffffff;

  /** The length of a bind has 32 bits in the requests of mlx5. */
  private static final long MAX_WINDOW = (1L << 32) - 1;

  private static final Set<DeviceCapability> WINDOWS =
      EnumSet.of(DeviceCapability.MEMORY_WINDOW_TYPE_2A, DeviceCapability.MEMORY_WINDOW_TYPE_2B);

  private static final AccessFlag[] READ = {AccessFlag.REMOTE_READ};

  private final ProtectionDomain domain;
  private final boolean hasWindows;

  /** Those whose windows are bound to nothing; guarded by this. */
  private final Deque<Bound> free = new ArrayDeque<>();

  Exposures(ProtectionDomain domain) {
    ExtendedDeviceAttributes attributes = domain.device().extendedAttributes();
    this.domain = domain;
    this.hasWindows =
        attributes.basic().vendorId() != SOFT_ROCE
            && !Collections.disjoint(attributes.capabilities(), WINDOWS);
  }

  /**
   * Registers memory of which parts can be exposed. The program may drop it without closing it: the
   * domain closes it.
   */
  MemoryRegion register(MemoryRegionConfig config, AccessFlag... access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    if (hasWindows) {
      flags.add(AccessFlag.MEMORY_WINDOW_BIND);
    }
    MemoryRegion region = domain.register(config.access(flags));
    VerbsAccess.get().lifetime(region).leaveToParent();
    return region;
  }

  /**
   * Begins to expose a range for reads, or prepares that if requests begin it.
   *
   * @throws UnsupportedOperationException if the range has to be registered, and this process
   *     cannot access its memory
   * @throws RdmaException if the device has no further window, or the range cannot be registered
   */
  Exposure toRead(MemoryRegion region, long offset, long length, QueuePair queuePair) {
    if (!canBind(region, length, queuePair)) {
      return registered(region.slice(offset, length), READ, queuePair);
    }
    long address = region.remoteAddress() + offset;
    Bound kept = pollFree();
    Bound bound = kept == null ? new Bound(allocate(), this) : kept;
    bound.expose(region, offset, length, address, READ);
    return bound;
  }

  /**
   * Does what {@link #toRead} does, for a user, with other access. The window is not used again.
   */
  Exposure forUser(MemorySlice range, Set<AccessFlag> access, QueuePair queuePair) {
    AccessFlag[] flags = access.toArray(AccessFlag[]::new);
    if (!canBind(range.region(), range.length(), queuePair)) {
      return registered(range, flags, queuePair);
    }
    long address = range.remoteAddress();
    Bound bound = new Bound(allocate(), this);
    bound.expose(range.region(), range.offset(), range.length(), address, flags);
    return bound;
  }

  private boolean canBind(MemoryRegion region, long length, QueuePair queuePair) {
    return hasWindows
        && region.access().contains(AccessFlag.MEMORY_WINDOW_BIND)
        && length <= MAX_WINDOW
        && !VerbsAccess.get().isInPlace(queuePair);
  }

  private static Exposure registered(MemorySlice range, AccessFlag[] access, QueuePair queuePair) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    if (!flags.equals(EnumSet.of(AccessFlag.REMOTE_READ))) {
      flags.add(AccessFlag.LOCAL_WRITE);
    }
    Lifetime connection = VerbsAccess.get().lifetime(queuePair);
    return connection.whileOpen(
        () -> {
          MemoryRegion region =
              range.region().domain().register(MemoryRegionConfig.of(range).access(flags));
          VerbsAccess.get().lifetime(region).leaveToParent();
          VerbsAccess.get().lifetime(region).dependOn(connection);
          return new Registered(region, region.remoteAddress(), region.remoteKey());
        });
  }

  private synchronized @Nullable Bound pollFree() {
    return free.pollLast();
  }

  private MemoryWindow allocate() {
    MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
    VerbsAccess.get().lifetime(window).leaveToParent();
    return window;
  }

  private synchronized void keep(Bound unused) {
    free.addLast(unused);
  }

  /**
   * A range to which a memory window is bound. It is used again and again with its window, so that
   * an offer allocates nothing.
   */
  static final class Bound implements Exposure {
    private final MemoryWindow window;
    private final Exposures home;
    private @Nullable MemoryRegion region;
    private long offset;
    private long length;
    private long address;
    private AccessFlag[] access = READ;
    private int key;

    private Bound(MemoryWindow window, Exposures home) {
      this.window = window;
      this.home = home;
    }

    /** Prepares the bind to a range. */
    private void expose(
        MemoryRegion of, long from, long bytes, long remoteAddress, AccessFlag[] withAccess) {
      region = of;
      offset = from;
      length = bytes;
      address = remoteAddress;
      access = withAccess;
      // Only this binds it, so this is the key of its bind.
      key = VerbsAccess.get().nextKey(window);
    }

    /** Describes the request that begins this. */
    void bind(SendRequests requests) {
      MemoryRegion bound = region;
      if (bound == null) {
        throw new AssertionError("an exposure of nothing");
      }
      requests.bind(window, bound, offset, length, access);
    }

    /** Describes the request that ends this. */
    void invalidate(SendRequests requests) {
      requests.invalidate(key);
    }

    @Override
    public long address() {
      return address;
    }

    @Override
    public int key() {
      return key;
    }

    @Override
    public boolean isBound() {
      return true;
    }

    @Override
    public void release() {
      VerbsAccess.get().invalidated(window);
      region = null;
      home.keep(this);
    }

    @Override
    public void end() {
      window.close();
    }
  }

  /** A range that is registered as a region of its own, which the end of the connection closes. */
  private record Registered(MemoryRegion region, long address, int key) implements Exposure {
    @Override
    public boolean isBound() {
      return false;
    }

    @Override
    public void release() {
      throw new AssertionError("no request ends a registration");
    }

    @Override
    public void end() {
      region.close();
    }
  }
}
