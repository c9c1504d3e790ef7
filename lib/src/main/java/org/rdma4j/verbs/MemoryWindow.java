package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_mw;
import org.rdma4j.bindings.generated.ibv_mw_bind;
import org.rdma4j.bindings.generated.ibv_mw_bind_info;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.Referent;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;

/**
 * A memory window, {@code struct ibv_mw}: it gives peers access to a part of a memory region under
 * a key of its own, and takes it away again, without a registration.
 *
 * <p>Peers use the address of the region, see {@link MemorySlice#remoteAddress}, and the key of the
 * window. Closing a region closes the windows that are bound to it. Closing a queue pair closes the
 * windows of type 2 that it bound. Soft-RoCE (Linux 6.1) enforces the access of the window, but the
 * bounds of the region instead of those of the window.
 *
 * <p>All methods may be called from any thread.
 *
 * @see ProtectionDomain#allocateMemoryWindow
 * @see SendRequests#bind
 * @see MemoryWindowType
 */
public final class MemoryWindow implements AutoCloseable {
  private static final Set<AccessFlag> WINDOW_ACCESS =
      EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

  private final ProtectionDomain domain;
  private final MemoryWindowType type;
  private final MemorySegment window;
  private final Referent referent;
  private final Lifetime lifetime;

  /** The result of the last bind, and the state before it; guarded by this. */
  private Binding binding;

  private Binding bindingBefore;

  /**
   * What a window is bound to.
   *
   * @param key the key that peers use
   * @param target the region that the window is bound to; null for none
   */
  record Binding(int key, @Nullable Target target) {
    Set<BoundWindows> windows() {
      return target == null ? Set.of() : target.windows;
    }
  }

  /**
   * A region that a window is bound to, without the object that users hold.
   *
   * @param lifetime the lifetime of the region
   * @param pointer the native region
   * @param windows the sets of windows that contain the window while it is bound
   */
  record Target(Lifetime lifetime, MemorySegment pointer, Set<BoundWindows> windows) {
    static Target of(MemoryRegion region, BoundWindows... others) {
      Set<BoundWindows> all = new HashSet<>(List.of(others));
      all.add(region.windows());
      return new Target(region.lifetime(), region.pointer(), all);
    }
  }

  static MemoryWindow allocate(ProtectionDomain domain, MemoryWindowType type) {
    return domain
        .lifetime()
        .whileOpen(
            () ->
                new MemoryWindow(
                    domain,
                    type,
                    NativeFailures.created(
                        domain.device().info().name(),
                        "ibv_alloc_mw(" + type + ")",
                        MemoryVerbs.ibv_alloc_mw(domain.pointer(), type.value()))));
  }

  private MemoryWindow(ProtectionDomain domain, MemoryWindowType type, MemorySegment window) {
    this.domain = domain;
    this.type = type;
    this.window = window;
    this.binding = new Binding(ibv_mw.rkey(window), null);
    this.bindingBefore = binding;
    DeviceInfo device = domain.device().info();
    String name = "memory window of " + device.name();
    Referent pointedTo = Referent.of(name);
    this.referent = pointedTo;
    HotCalls posts = domain.referringPosts();
    this.lifetime =
        new Lifetime(
            name,
            () -> {
              pointedTo.leave(posts);
              NativeFailures.check(
                  device.name(), "ibv_dealloc_mw", Math.abs(MemoryVerbs.ibv_dealloc_mw(window)));
            },
            domain.lifetime());
    Leaks.watch(this, lifetime);
  }

  /**
   * Returns the type of the window, which determines how it is bound.
   *
   * @return the type
   */
  public MemoryWindowType type() {
    return type;
  }

  /**
   * Returns the key, {@code rkey}, that peers use. Each bind changes the key; the new key is valid
   * once the bind has completed successfully.
   *
   * @return the key that the last bind set
   */
  public int remoteKey() {
    return lifetime.whileOpen(
        () -> {
          synchronized (this) {
            return binding.key;
          }
        });
  }

  /**
   * Binds a window of type 1 to a part of a region: {@code ibv_bind_mw}. The bind takes an entry of
   * the send queue. It ends the access of peers to what the window was bound to before. If the
   * completion says that the bind failed, the window is unchanged, and {@link #bindFailed} must be
   * called.
   *
   * @param queuePair any queue pair of the window's domain that is ready to send, of the type
   *     RELIABLE_CONNECTION, UNRELIABLE_CONNECTION or XRC_SEND
   * @param id the id of the completion
   * @param part the part to bind to, at least 1 byte of a region of the same domain that was
   *     registered with {@link AccessFlag#MEMORY_WINDOW_BIND}
   * @param signaled whether the bind also produces a completion if it succeeds
   * @param access what peers may do: REMOTE_READ, and, if the region has LOCAL_WRITE, REMOTE_WRITE
   *     and REMOTE_ATOMIC. The region itself need not have these flags
   * @return the new key, for peers once the bind has completed
   * @throws IllegalArgumentException if the window is of type 2, the queue pair of another type, an
   *     argument belongs to another domain, the part is empty, or the region or the flags do not
   *     allow the bind
   * @throws IllegalStateException if the queue pair is not ready to send, or one of the objects is
   *     closed
   * @throws RdmaException if the bind cannot be posted: ENOMEM if the send queue is full
   */
  public int bind(
      QueuePair queuePair, long id, MemorySlice part, boolean signaled, AccessFlag... access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    checkType1();
    checkBind(part, flags);
    Target region = Target.of(part.region());
    long address = part.region().addressOf(part.offset(), part.length());
    return post(
        queuePair, id, signaled, region, address, part.length(), NativeConstants.mask(flags));
  }

  /**
   * Unbinds a window of type 1: {@code ibv_bind_mw} with length 0.
   *
   * @param queuePair any queue pair of the window's domain that is ready to send, of the type
   *     RELIABLE_CONNECTION, UNRELIABLE_CONNECTION or XRC_SEND
   * @param id the id of the completion
   * @param signaled whether the request also produces a completion if it succeeds
   * @throws IllegalArgumentException if the window is of type 2, or the queue pair of another type
   *     or of another domain
   * @throws IllegalStateException if the window is not bound, the queue pair is not ready to send,
   *     or one of the objects is closed
   * @throws RdmaException if the request cannot be posted: ENOMEM if the send queue is full
   */
  public void unbind(QueuePair queuePair, long id, boolean signaled) {
    checkType1();
    // verbs.h allows NULL for the region here, but the provider of soft-RoCE reads it.
    post(queuePair, id, signaled, target(), 0, 0, 0);
  }

  private Target target() {
    return lifetime.whileOpen(
        () -> {
          synchronized (this) {
            Target target = binding.target;
            if (target == null) {
              throw new IllegalStateException(this + " is not bound: bind it first");
            }
            return target;
          }
        });
  }

  /**
   * Restores the key that the window had before the last {@link #bind} or {@link #unbind}. Call it
   * after the completion has said that the bind failed: {@code ibv_bind_mw} leaves this to its
   * caller. Without it, devices refuse further binds.
   */
  public void bindFailed() {
    lifetime.whileOpen(
        () -> {
          synchronized (this) {
            become(bindingBefore);
            ibv_mw.rkey(window, binding.key);
            return this;
          }
        });
  }

  private int post(
      QueuePair queuePair,
      long id,
      boolean signaled,
      Target region,
      long address,
      long length,
      int access) {
    if (!domain.isSameAs(queuePair.domain())) {
      throw new IllegalArgumentException(
          queuePair + " belongs to another domain than " + this + ", must belong to the same");
    }
    if (!AllowedOpcodes.canBind(queuePair.type())) {
      // libmlx5 would look for the destination of a datagram, and crash.
      throw new IllegalArgumentException(
          "%s is of the type %s, must be of RELIABLE_CONNECTION, UNRELIABLE_CONNECTION or XRC_SEND"
              .formatted(queuePair, queuePair.type()));
    }
    return queuePair.whileSending(
        () ->
            region.lifetime.whileOpen(
                () ->
                    lifetime.whileOpen(
                        () ->
                            postWhileOpen(
                                queuePair, id, signaled, region, address, length, access))));
  }

  private int postWhileOpen(
      QueuePair queuePair,
      long id,
      boolean signaled,
      Target region,
      long address,
      long length,
      int access) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bind = arena.allocate(ibv_mw_bind.layout());
      ibv_mw_bind.wr_id(bind, id);
      ibv_mw_bind.send_flags(bind, signaled ? rdma_h.IBV_SEND_SIGNALED() : 0);
      MemorySegment info = ibv_mw_bind.bind_info(bind);
      ibv_mw_bind_info.mr(info, region.pointer);
      ibv_mw_bind_info.addr(info, address);
      ibv_mw_bind_info.length(info, length);
      ibv_mw_bind_info.mw_access_flags(info, access);
      synchronized (this) {
        NativeFailures.check(
            domain.device().info().name(),
            "ibv_bind_mw",
            MemoryVerbs.ibv_bind_mw(queuePair.pointer(), window, bind));
        bound(length == 0 ? null : region, ibv_mw.rkey(window));
        return binding.key;
      }
    }
  }

  private void checkType1() {
    if (type != MemoryWindowType.TYPE_1) {
      throw new IllegalArgumentException(
          "the window is of " + type + ", must be of TYPE_1: use SendRequests.bind for TYPE_2");
    }
  }

  /**
   * Checks what a device would refuse only in the completion, and then the queue pair would go to
   * the state ERROR.
   */
  void checkBind(MemorySlice part, Set<AccessFlag> flags) {
    MemoryRegion region = part.region();
    if (!domain.isSameAs(region.domain())) {
      throw new IllegalArgumentException(
          region + " belongs to another domain than " + this + ", must belong to the same");
    }
    if (part.length() == 0) {
      throw new IllegalArgumentException("the length of the part is 0, must be at least 1");
    }
    if (!region.access().contains(AccessFlag.MEMORY_WINDOW_BIND)) {
      throw new IllegalArgumentException(
          region + " has the access " + region.access() + ", must have MEMORY_WINDOW_BIND");
    }
    if (!WINDOW_ACCESS.containsAll(flags)) {
      throw new IllegalArgumentException(
          "access is " + flags + ", must contain only " + WINDOW_ACCESS);
    }
    boolean writes =
        flags.contains(AccessFlag.REMOTE_WRITE) || flags.contains(AccessFlag.REMOTE_ATOMIC);
    if (writes && !region.access().contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          "access is " + flags + ", which requires a region with LOCAL_WRITE");
    }
  }

  /**
   * Returns the protection domain that this window belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Returns the native {@code struct ibv_mw *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> window);
  }

  /**
   * Deallocates the window, which unbinds it: {@code ibv_dealloc_mw}. Does nothing if it is already
   * closed.
   *
   * @throws RdmaException if the deallocation fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  void checkType2(ProtectionDomain of) {
    if (type != MemoryWindowType.TYPE_2) {
      throw new IllegalArgumentException(
          "the window is of " + type + ", must be of TYPE_2: use MemoryWindow.bind for TYPE_1");
    }
    if (of != domain) {
      throw new IllegalArgumentException(
          this + " belongs to another domain than the queue pair, must belong to the same");
    }
  }

  /** Returns what a request that points to this window keeps together with the pointer. */
  Referent referent() {
    return referent;
  }

  /** Returns the pointer without a check, for callers that keep this window open. */
  MemorySegment pointer() {
    return window;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Returns the key for the next bind by a work request: {@code ibv_inc_rkey}. */
  synchronized int nextKey() {
    return MemoryVerbs.ibv_inc_rkey(binding.key);
  }

  /**
   * Records that a request was created that binds this window to the region and gives it the key.
   * The region must be open during this call.
   *
   * @return the binding that {@link #dropped} restores
   */
  synchronized Binding requested(MemoryRegion region, BoundWindows ofQueuePair, int newKey) {
    return bound(Target.of(region, ofQueuePair), newKey);
  }

  private Binding bound(@Nullable Target target, int newKey) {
    bindingBefore = binding;
    become(new Binding(newKey, target));
    return bindingBefore;
  }

  /** Records that the request which gave the window this key will not be posted. */
  void dropped(int key, Binding before) {
    if (lifetime.tryEnter()) {
      try {
        synchronized (this) {
          if (binding.key == key) {
            become(before);
          }
        }
      } finally {
        lifetime.leave();
      }
    }
  }

  /**
   * Sets the key after the request was posted. It must not be set before: during the post, the
   * provider also passes the previous key to the device.
   */
  void settle(int newKey) {
    if (lifetime.tryEnter()) {
      try {
        ibv_mw.rkey(window, newKey);
      } finally {
        lifetime.leave();
      }
    }
  }

  /** Records that a request has invalidated this window, after its completion. */
  synchronized void invalidated() {
    binding.windows().forEach(each -> each.left(lifetime));
    binding = new Binding(binding.key, null);
  }

  private void become(Binding next) {
    Set<BoundWindows> to = next.windows();
    for (BoundWindows from : binding.windows()) {
      if (!to.contains(from)) {
        from.leave(lifetime);
      }
    }
    to.forEach(each -> each.add(lifetime));
    binding = next;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
