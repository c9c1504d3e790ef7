package org.rdma4j.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_cm_join_mc_attr_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;

/**
 * The multicast groups of an identifier of port space {@link PortSpace#UDP} or {@link
 * PortSpace#IPOIB}, see {@link CmId#multicast}.
 *
 * <p>Create the queue pair before joining: it is attached to the group while the group is joined.
 * Closing the queue pair or the identifier leaves all groups.
 *
 * <p>All methods may be called from any thread.
 *
 * @see CmId#multicast
 * @see JoinFlag
 */
public final class MulticastMembership {
  private static final AtomicLong NUMBERS = new AtomicLong(1);

  private final NativeId id;

  /**
   * The groups that have been or are being joined, by the number that their events carry. Only used
   * with the channel's lock held.
   */
  private final Map<Long, SocketAddress> groups = new HashMap<>();

  MulticastMembership(NativeId id) {
    this.id = id;
  }

  /**
   * Joins a group, to send and to receive: {@code rdma_join_multicast}. {@link
   * CmEvent.MulticastJoined} or {@link CmEvent.MulticastFailed} reports the outcome.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port has no meaning
   * @throws IllegalArgumentException if the address is unresolved or of another kind
   * @throws IllegalStateException if the identifier is closed or has no device yet
   * @throws RdmaException if joining cannot begin
   */
  public void join(SocketAddress group) {
    join(
        "rdma_join_multicast(" + group + ")",
        group,
        (pointer, address, context, arena) ->
            Calls.integer(rdma_h.rdma_join_multicast$address(), pointer, address, context));
  }

  /**
   * Joins a group: {@code rdma_join_multicast_ex}. {@link CmEvent.MulticastJoined} or {@link
   * CmEvent.MulticastFailed} reports the outcome.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port has no meaning
   * @param flag whether to receive as well as to send
   * @throws IllegalArgumentException if the address is unresolved or of another kind
   * @throws IllegalStateException if the identifier is closed or has no device yet
   * @throws RdmaException if joining cannot begin
   */
  public void join(SocketAddress group, JoinFlag flag) {
    join(
        "rdma_join_multicast_ex(" + group + ", " + flag + ")",
        group,
        (pointer, address, context, arena) -> {
          MemorySegment attributes = arena.allocate(rdma_cm_join_mc_attr_ex.layout());
          rdma_cm_join_mc_attr_ex.comp_mask(
              attributes,
              rdma_h.RDMA_CM_JOIN_MC_ATTR_ADDRESS() | rdma_h.RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS());
          rdma_cm_join_mc_attr_ex.join_flags(attributes, flag.value());
          rdma_cm_join_mc_attr_ex.addr(attributes, address);
          return Calls.integer(
              rdma_h.rdma_join_multicast_ex$address(), pointer, attributes, context);
        });
  }

  /** A C function that joins a group: it returns 0, or -1 and sets errno. */
  private interface Join {
    int by(MemorySegment id, MemorySegment address, MemorySegment context, Arena arena);
  }

  private void join(String name, SocketAddress group, Join join) {
    SocketAddresses.check(group);
    id.query(
        pointer -> {
          id.requireDevice();
          long number = NUMBERS.getAndIncrement();
          groups.put(number, group);
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = SocketAddresses.write(group, arena);
            MemorySegment context = MemorySegment.ofAddress(number);
            CmFailures.check(name, join.by(pointer, address, context, arena));
            return true;
          } catch (RuntimeException failed) {
            groups.remove(number);
            throw failed;
          }
        });
  }

  /**
   * Leaves a group: {@code rdma_leave_multicast}.
   *
   * @param group the address with which the group was joined
   * @throws IllegalArgumentException if the group was not joined
   * @throws RdmaException if leaving fails; the group counts as left all the same
   */
  public void leave(SocketAddress group) {
    id.query(
        pointer -> {
          if (!groups.containsValue(group)) {
            throw new IllegalArgumentException(id + " has not joined the group " + group);
          }
          try {
            CmFailures.check("rdma_leave_multicast(" + group + ")", callLeave(pointer, group));
            return true;
          } finally {
            groups.values().remove(group);
          }
        });
  }

  private static int callLeave(MemorySegment id, SocketAddress group) {
    try (Arena arena = Arena.ofConfined()) {
      return Calls.integer(
          rdma_h.rdma_leave_multicast$address(), id, SocketAddresses.write(group, arena));
    }
  }

  /**
   * Leaves all groups, since a queue pair that is attached to a group cannot be destroyed. The
   * caller holds the channel's lock.
   */
  void leaveAll(MemorySegment pointer) {
    groups.values().forEach(group -> callLeave(pointer, group));
    groups.clear();
  }

  /** Returns the group of an event, or null if it was left. The caller holds the channel's lock. */
  @Nullable SocketAddress group(MemorySegment context) {
    return groups.get(context.address());
  }
}
