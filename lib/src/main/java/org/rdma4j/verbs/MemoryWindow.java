package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
  /** The access by which a peer changes the memory. */
  private static final int WRITES =
      AccessFlag.REMOTE_WRITE.value() | AccessFlag.REMOTE_ATOMIC.value();

  private static final int WINDOW_ACCESS = WRITES | AccessFlag.REMOTE_READ.value();

  private final ProtectionDomain domain;
  private final MemoryWindowType type;
  private final MemorySegment window;
  private final Referent referent;
  private final Lifetime lifetime;

  /** The result of the last bind, and the state before it; guarded by this. */
  private final WindowBinding binding = new WindowBinding();

  private final WindowBinding bindingBefore = new WindowBinding();

  /**
   * A region that a window is bound to, without the object that users hold.
   *
   * @param lifetime the lifetime of the region
   * @param pointer the native region
   * @param windows the windows that are bound to the region
   */
  record Target(Lifetime lifetime, MemorySegment pointer, BoundWindows windows) {}

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
    this.binding.key = ibv_mw.rkey(window);
    this.bindingBefore.set(binding);
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
    int mask = NativeConstants.mask(access);
    checkType1();
    checkBind(part.region(), part.length(), mask);
    Target region = part.region().windowTarget();
    long address = part.region().addressOf(part.offset(), part.length());
    return post(queuePair, id, signaled, region, address, part.length(), mask);
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
        bound(ibv_mw.rkey(window), length == 0 ? null : region, null);
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
  void checkBind(MemoryRegion region, long length, int access) {
    if (!domain.isSameAs(region.domain())) {
      throw new IllegalArgumentException(
          region + " belongs to another domain than " + this + ", must belong to the same");
    }
    if (length == 0) {
      throw new IllegalArgumentException("the length of the part is 0, must be at least 1");
    }
    if (!region.access().contains(AccessFlag.MEMORY_WINDOW_BIND)) {
      throw new IllegalArgumentException(
          region + " has the access " + region.access() + ", must have MEMORY_WINDOW_BIND");
    }
    if ((access & ~WINDOW_ACCESS) != 0) {
      throw new IllegalArgumentException(
          "access is " + flags(access) + ", must contain only " + flags(WINDOW_ACCESS));
    }
    if ((access & WRITES) != 0 && !region.access().contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          "access is " + flags(access) + ", which requires a region with LOCAL_WRITE");
    }
  }

  private static Set<AccessFlag> flags(int mask) {
    return NativeConstants.flags(AccessFlag.class, mask);
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
   * @param before takes the binding that {@link #dropped} restores
   */
  synchronized void requested(
      MemoryRegion region, BoundWindows ofQueuePair, int newKey, WindowBinding before) {
    before.set(binding);
    bound(newKey, region.windowTarget(), ofQueuePair);
  }

  private void bound(int newKey, @Nullable Target target, @Nullable BoundWindows ofQueuePair) {
    bindingBefore.set(binding);
    become(newKey, target, ofQueuePair);
  }

  /** Records that the request which gave the window this key will not be posted. */
  void dropped(int key, WindowBinding before) {
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
    left(binding.ofRegion());
    left(binding.ofQueuePair);
    binding.set(binding.key, null, null);
  }

  private void left(@Nullable BoundWindows from) {
    if (from != null) {
      from.left(lifetime);
    }
  }

  private void become(WindowBinding next) {
    become(next.key, next.target, next.ofQueuePair);
  }

  private void become(int key, @Nullable Target target, @Nullable BoundWindows ofQueuePair) {
    move(binding.ofRegion(), target == null ? null : target.windows);
    move(binding.ofQueuePair, ofQueuePair);
    binding.set(key, target, ofQueuePair);
  }

  private void move(@Nullable BoundWindows from, @Nullable BoundWindows to) {
    if (from != null && from != to) {
      from.leave(lifetime);
    }
    if (to != null) {
      to.add(lifetime);
    }
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
