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

  private static final Set<AccessFlag> READ = EnumSet.of(AccessFlag.REMOTE_READ);

  private final ProtectionDomain domain;
  private final boolean hasWindows;

  /** The windows that are bound to nothing; guarded by this. */
  private final Deque<MemoryWindow> free = new ArrayDeque<>();

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
  Exposure toRead(MemorySlice range, QueuePair queuePair) {
    return canBind(range, queuePair)
        ? new Bound(range, range.remoteAddress(), take(), READ, this)
        : registered(range, READ, queuePair);
  }

  /**
   * Does what {@link #toRead} does, for a user, with other access. The window is not used again.
   */
  Exposure forUser(MemorySlice range, Set<AccessFlag> access, QueuePair queuePair) {
    return canBind(range, queuePair)
        ? new Bound(range, range.remoteAddress(), allocate(), access, this)
        : registered(range, access, queuePair);
  }

  private boolean canBind(MemorySlice range, QueuePair queuePair) {
    return hasWindows
        && range.region().access().contains(AccessFlag.MEMORY_WINDOW_BIND)
        && range.length() <= MAX_WINDOW
        && !VerbsAccess.get().isInPlace(queuePair);
  }

  private static Exposure registered(
      MemorySlice range, Set<AccessFlag> access, QueuePair queuePair) {
    Set<AccessFlag> flags = EnumSet.copyOf(access);
    if (!flags.equals(READ)) {
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

  private MemoryWindow take() {
    MemoryWindow kept = pollFree();
    return kept == null ? allocate() : kept;
  }

  private synchronized @Nullable MemoryWindow pollFree() {
    return free.pollLast();
  }

  private MemoryWindow allocate() {
    MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
    VerbsAccess.get().lifetime(window).leaveToParent();
    return window;
  }

  private synchronized void keep(MemoryWindow window) {
    free.addLast(window);
  }

  /** A range to which a memory window is bound. */
  static final class Bound implements Exposure {
    private final MemorySlice range;
    private final long address;
    private final MemoryWindow window;
    private final AccessFlag[] access;
    private final Exposures home;
    private final int key;

    private Bound(
        MemorySlice range,
        long address,
        MemoryWindow window,
        Set<AccessFlag> access,
        Exposures home) {
      this.range = range;
      this.address = address;
      this.window = window;
      this.access = access.toArray(AccessFlag[]::new);
      this.home = home;
      // Only this binds it, so this is the key of its bind.
      this.key = VerbsAccess.get().nextKey(window);
    }

    /** Describes the request that begins this. */
    void bind(SendRequests requests) {
      requests.bind(window, range, access);
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
      home.keep(window);
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
