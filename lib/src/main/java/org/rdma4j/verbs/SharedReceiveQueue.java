package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_srq_attr;
import org.rdma4j.bindings.generated.ibv_srq_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;

/**
 * A shared receive queue, {@code struct ibv_srq}: receives that any of its queue pairs may use, so
 * that many connections need not each have enough of their own. The completion comes to the queue
 * pair whose message it was.
 *
 * <p>All methods may be called from any thread. Closing it closes its queue pairs first.
 */
public final class SharedReceiveQueue implements AutoCloseable {
  private final ProtectionDomain domain;
  private final MemorySegment queue;
  private final HotCalls posts;
  private final Lifetime lifetime;

  /** How many queue pairs of this use a completion queue, which holds this queue's depth once. */
  private final Map<CompletionQueue.Capacity, Integer> users = new HashMap<>();

  private int depth;
  private int sges;

  private SharedReceiveQueue(ProtectionDomain domain, MemorySegment queue) {
    this.domain = domain;
    this.queue = queue;
    HotCalls calls = new HotCalls();
    this.posts = calls;
    this.lifetime =
        new Lifetime(
            "shared receive queue of " + domain.device().info().name(),
            () -> {
              calls.revoke();
              Native.check("ibv_destroy_srq", rdma_h.ibv_destroy_srq(queue));
            },
            domain.lifetime());
    domain.device().register(queue.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  /** In a call during which the domain is open. */
  static SharedReceiveQueue create(ProtectionDomain domain, int depth, int sges) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_srq_init_attr.layout());
      MemorySegment attributes = ibv_srq_init_attr.attr(init);
      ibv_srq_attr.max_wr(attributes, depth);
      ibv_srq_attr.max_sge(attributes, sges);
      MemorySegment created =
          Native.created(
              "ibv_create_srq(" + depth + " requests of " + sges + " pieces)",
              Calls.pointer(rdma_h.ibv_create_srq$address(), domain.pointer(), init));
      SharedReceiveQueue queue = new SharedReceiveQueue(domain, created);
      // Some providers tell what they granted only when they are asked.
      try {
        SharedReceiveQueueAttributes granted = queue.query();
        queue.depth = granted.depth();
        queue.sges = granted.sges();
      } catch (RuntimeException failed) {
        queue.close();
        throw failed;
      }
      return queue;
    }
  }

  /**
   * Queries it: {@code ibv_query_srq}.
   *
   * @return its attributes as of now
   * @throws IllegalStateException where it is closed
   * @throws RdmaException where the query fails
   */
  public SharedReceiveQueueAttributes query() {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_srq_attr.layout());
            Native.check("ibv_query_srq", rdma_h.ibv_query_srq(queue, attributes));
            return SharedReceiveQueueAttributes.read(attributes);
          }
        });
  }

  /**
   * Has the device raise an event once fewer than so many receives are posted: {@code
   * ibv_modify_srq} with {@code IBV_SRQ_LIMIT}. It raises it once; set the limit anew for the next.
   *
   * @param limit how many, 0 for no event, to the depth
   * @throws IllegalArgumentException where the limit is out of range
   * @throws IllegalStateException where it is closed
   * @throws RdmaException where the device refuses it
   */
  public void limit(int limit) {
    modify("limit", limit, 0, depth(), rdma_h.IBV_SRQ_LIMIT());
  }

  /**
   * Changes how many receives it holds: {@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
   *
   * @param depth how many, from 1 to {@link DeviceAttributes#maxSharedReceiveQueueRequests}; not
   *     fewer than are posted
   * @throws IllegalArgumentException where the depth is out of range, or more than a completion
   *     queue of its queue pairs can hold
   * @throws IllegalStateException where it is closed
   * @throws RdmaException where the device refuses it
   */
  public void resize(int depth) {
    int most = domain.device().limits().maxSharedReceiveQueueRequests();
    Arguments.checkRange("depth", depth, 1, most);
    synchronized (users) {
      int before = this.depth;
      long more = Math.max(0, (long) depth - before);
      users.keySet().forEach(capacity -> capacity.reserve(more));
      try {
        modify("depth", depth, 1, most, rdma_h.IBV_SRQ_MAX_WR());
        this.depth = query().depth();
      } finally {
        long unused = before + more - this.depth;
        users.keySet().forEach(capacity -> capacity.release(unused));
      }
    }
  }

  private void modify(String name, int value, int least, int most, int mask) {
    Arguments.checkRange(name, value, least, most);
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_srq_attr.layout());
            ibv_srq_attr.max_wr(attributes, value);
            ibv_srq_attr.srq_limit(attributes, value);
            Native.check(
                "ibv_modify_srq(" + name + " " + value + ")",
                rdma_h.ibv_modify_srq(queue, attributes, mask));
            return true;
          }
        });
  }

  /**
   * How many receives it holds.
   *
   * @return the number granted, at least what was asked for
   */
  public int depth() {
    synchronized (users) {
      return depth;
    }
  }

  /**
   * Makes room for receive requests, off-heap, which one thread builds in place and posts together.
   *
   * @param most the most requests to post in one call, from 1 to the depth
   * @return the room, empty
   * @throws IllegalArgumentException where the number is out of range
   * @throws IllegalStateException where it is closed
   */
  public ReceiveRequests receiveRequests(int most) {
    Arguments.checkRange("most", most, 1, depth());
    return lifetime.whileOpen(() -> ReceiveRequests.of(this, most, posts));
  }

  /**
   * The protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * The way out to the bindings: {@code struct ibv_srq *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where it is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queue);
  }

  /**
   * Closes its queue pairs, then destroys it: {@code ibv_destroy_srq}. Does nothing where it is
   * closed.
   *
   * @throws RdmaException where the destruction fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The pointer, for those whose life lies within this one's. */
  MemorySegment pointer() {
    return queue;
  }

  int sges() {
    return sges;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Promises entries of a completion queue to this queue's receives; once for all its users. */
  void reserve(CompletionQueue.Capacity capacity) {
    synchronized (users) {
      if (!users.containsKey(capacity)) {
        capacity.reserve(depth);
      }
      users.merge(capacity, 1, Integer::sum);
    }
  }

  /** Gives them back after the last user. */
  void release(CompletionQueue.Capacity capacity) {
    synchronized (users) {
      if (users.merge(capacity, -1, Integer::sum) == 0) {
        users.remove(capacity);
        capacity.release(depth);
      }
    }
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
