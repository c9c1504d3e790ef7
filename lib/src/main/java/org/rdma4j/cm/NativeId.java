package org.rdma4j.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.internal.QueuePairOrigin;

/**
 * A native identifier, separate from the object that users hold: the calls on it, one at a time,
 * and its destruction. It must not refer to the {@link CmId}, because the lifetimes of the
 * identifier and of its queue pair refer to it.
 */
final class NativeId {
  private final MemorySegment id;
  private final MulticastMembership multicast = new MulticastMembership(this);
  private volatile NativeChannel channel;
  private final Lifetime lifetime;

  /** The channel's lifetime must be open during this call. */
  NativeId(MemorySegment id, PortSpace space, NativeChannel channel, Lifetime channelLifetime) {
    this.id = id;
    this.channel = channel;
    this.lifetime =
        new Lifetime("identifier of port space " + space, this::destroy, channelLifetime);
  }

  MemorySegment pointer() {
    return id;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  MulticastMembership multicast() {
    return multicast;
  }

  /** A C function that returns 0, or -1 and sets errno. */
  interface Call {
    int on(MemorySegment id, Arena arena);
  }

  /** Calls a C function while the identifier is open and no other thread uses its channel. */
  void call(String name, Call call) {
    query(
        pointer -> {
          try (Arena arena = Arena.ofConfined()) {
            CmFailures.check(name, call.on(pointer, arena));
            return true;
          }
        });
  }

  /** Reads the identifier while it is open and no other thread uses its channel. */
  <T> T query(Function<MemorySegment, T> query) {
    return lifetime.whileOpen(() -> exclusively(() -> query.apply(id)));
  }

  /** Throws if there is no device: librdmacm would follow a NULL pointer. */
  void requireDevice() {
    if (!hasDevice()) {
      throw new IllegalStateException(
          this + " has no device yet: resolve an address, or bind to the address of a device");
    }
  }

  boolean hasDevice() {
    return rdma_cm_id.verbs(id).address() != 0;
  }

  boolean hasQueuePair() {
    return rdma_cm_id.qp(id).address() != 0;
  }

  /** Makes a call while no other thread makes one on an identifier of the same channel. */
  <T extends @Nullable Object> T exclusively(Supplier<T> call) {
    while (true) {
      NativeChannel current = channel;
      current.lock();
      try {
        if (current == channel) {
          return call.get();
        }
      } finally {
        current.unlock();
      }
    }
  }

  /**
   * Moves the identifier to another channel, and updates the object that users hold. The lifetimes
   * of the identifier and of that channel must be open during this call.
   */
  void migrate(CmId object, EventChannel target) {
    NativeChannel to = target.channel();
    while (true) {
      NativeChannel from = channel;
      NativeChannel.lock(from, to);
      try {
        if (from == channel) {
          CmFailures.check(
              "rdma_migrate_id", Calls.integer(rdma_h.rdma_migrate_id$address(), id, to.pointer()));
          from.remove(id);
          to.add(id, object);
          channel = to;
          object.moved(target);
          return;
        }
      } finally {
        NativeChannel.unlock(from, to);
      }
    }
  }

  /** Returns how librdmacm creates and destroys the queue pair, and its state in between. */
  QueuePairOrigin queuePairOrigin(QueuePairState state) {
    return new QueuePairOrigin(
        "rdma_create_qp_ex",
        init -> exclusively(() -> createQueuePair(init)),
        pointer -> destroyQueuePair(),
        state,
        List.of(lifetime));
  }

  private MemorySegment createQueuePair(MemorySegment init) {
    if (hasQueuePair()) {
      throw new IllegalStateException(this + " already has a queue pair: close that one first");
    }
    return Calls.integer(rdma_h.rdma_create_qp_ex$address(), id, init) == 0
        ? rdma_cm_id.qp(id)
        : MemorySegment.NULL;
  }

  private void destroyQueuePair() {
    exclusively(
        () -> {
          multicast.leaveAll(id);
          if (hasQueuePair()) {
            rdma_h.rdma_destroy_qp(id);
          }
          return true;
        });
  }

  private void destroy() {
    exclusively(
        () -> {
          multicast.leaveAll(id);
          channel.remove(id);
          try {
            if (hasDevice()) {
              CmDevices.watch(rdma_cm_id.verbs(id));
            }
          } finally {
            CmFailures.check(
                "rdma_destroy_id", Calls.integer(rdma_h.rdma_destroy_id$address(), id));
          }
          return true;
        });
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
