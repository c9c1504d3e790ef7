package org.rdma4j.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;

/** A native identifier, apart from the object that users hold: all that its destruction needs. */
final class NativeId {
  private static final AtomicLong NUMBERS = new AtomicLong(1);

  private final MemorySegment id;
  private volatile NativeChannel channel;

  /** The groups that it joined, or is joining, by the number that their events carry. */
  private final Map<Long, SocketAddress> groups = new HashMap<>();

  NativeId(MemorySegment id, NativeChannel channel) {
    this.id = id;
    this.channel = channel;
  }

  MemorySegment pointer() {
    return id;
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

  /** Moves to another channel, with the object that users hold, which it tells. */
  void migrate(CmId object, EventChannel target) {
    NativeChannel to = target.channel();
    while (true) {
      NativeChannel from = channel;
      NativeChannel.lock(from, to);
      try {
        if (from == channel) {
          Cm.check(
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

  /** Joins a group; with {@link #exclusively}. */
  void join(String name, SocketAddress group, Join join) {
    long number = NUMBERS.getAndIncrement();
    groups.put(number, group);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = SocketAddresses.write(group, arena);
      Cm.check(name, join.by(id, address, MemorySegment.ofAddress(number), arena));
    } catch (RuntimeException failed) {
      groups.remove(number);
      throw failed;
    }
  }

  /** How a group is joined. */
  interface Join {
    /** 0, or -1 and errno. */
    int by(MemorySegment id, MemorySegment address, MemorySegment context, Arena arena);
  }

  /** The group of an event; with {@link #exclusively}. */
  @Nullable SocketAddress group(MemorySegment context) {
    return groups.get(context.address());
  }

  /** Leaves a group; with {@link #exclusively}. */
  void leave(SocketAddress group) {
    if (!groups.containsValue(group)) {
      throw new IllegalArgumentException("the identifier has not joined " + group);
    }
    try {
      Cm.check("rdma_leave_multicast(" + group + ")", callLeave(group));
    } finally {
      groups.values().remove(group);
    }
  }

  private int callLeave(SocketAddress group) {
    try (Arena arena = Arena.ofConfined()) {
      return Calls.integer(
          rdma_h.rdma_leave_multicast$address(), id, SocketAddresses.write(group, arena));
    }
  }

  /** A group that the queue pair is attached to keeps it from being destroyed. */
  private void leaveAll() {
    groups.values().forEach(this::callLeave);
    groups.clear();
  }

  void destroyQueuePair() {
    exclusively(
        () -> {
          leaveAll();
          if (rdma_cm_id.qp(id).address() != 0) {
            rdma_h.rdma_destroy_qp(id);
          }
          return true;
        });
  }

  void destroy() {
    exclusively(
        () -> {
          leaveAll();
          channel.remove(id);
          Cm.check("rdma_destroy_id", Calls.integer(rdma_h.rdma_destroy_id$address(), id));
          return true;
        });
  }
}
