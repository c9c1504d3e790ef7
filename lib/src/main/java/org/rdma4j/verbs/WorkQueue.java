package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_wq;
import org.rdma4j.bindings.generated.ibv_wq_attr;
import org.rdma4j.bindings.generated.ibv_wq_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.WorkQueues;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.PollPause;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;

/**
 * A work queue, {@code struct ibv_wq}: a receive queue without a queue pair. Through an {@link
 * IndirectionTable}, the packets of a queue pair are spread over several work queues.
 *
 * <p>All methods may be called from any thread. Each thread that posts receives creates a batch of
 * its own, {@link ReceiveRequests}.
 *
 * @see WorkQueueConfig
 * @see IndirectionTable
 * @see ReceiveHash
 */
public final class WorkQueue implements AutoCloseable {
  private final ProtectionDomain domain;
  private final MemorySegment queue;
  private final int depth;
  private final int sges;
  private final HotCalls posts;
  private final Set<PollPause> pauses;
  private final Lifetime lifetime;

  private WorkQueue(
      ProtectionDomain domain, WorkQueueConfig config, MemorySegment queue, int depth, int sges) {
    this.domain = domain;
    this.queue = queue;
    this.depth = depth;
    this.sges = sges;
    DeviceInfo device = domain.device().info();
    HotCalls calls = new HotCalls(domain.confinement());
    this.posts = calls;
    Reservations reserved = config.completions().reservations();
    int requests = config.depth();
    Set<PollPause> pauses = CompletionQueue.pauses(config.completions());
    this.pauses = pauses;
    this.lifetime =
        new Lifetime(
            "work queue " + ibv_wq.wq_num(queue) + " of " + device.name(),
            () -> {
              calls.revoke();
              PollPause.runPaused(
                  pauses,
                  () -> {
                    NativeFailures.check(
                        device.name(),
                        "ibv_destroy_wq",
                        Math.abs(WorkQueues.ibv_destroy_wq(queue)));
                  });
              reserved.release(requests);
            },
            domain.lifetime(),
            config.completions().lifetime());
    domain.device().register(queue.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  static WorkQueue create(ProtectionDomain domain, WorkQueueConfig config) {
    config.check(domain);
    InPlaceChoice.requireProvider(domain.device(), "a work queue", config.completions());
    return Lifetime.whileAllOpen(
        List.of(domain.lifetime(), config.completions().lifetime()),
        () -> createWhileOpen(domain, config));
  }

  private static WorkQueue createWhileOpen(ProtectionDomain domain, WorkQueueConfig config) {
    Reservations reserved = config.completions().reservations();
    reserved.reserve(config.depth());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_wq_init_attr.layout());
      config.write(init, domain);
      MemorySegment queue =
          NativeFailures.created(
              domain.device().info().name(),
              "ibv_create_wq(" + config.depth() + " requests of " + config.sges() + " pieces)",
              PollPause.whilePaused(
                  CompletionQueue.pauses(config.completions()),
                  () -> WorkQueues.ibv_create_wq(domain.device().context(), init)));
      // Providers overwrite the requested capacities with the granted ones.
      return new WorkQueue(
          domain, config, queue, ibv_wq_init_attr.max_wr(init), ibv_wq_init_attr.max_sge(init));
    } catch (RuntimeException failed) {
      reserved.release(config.depth());
      throw failed;
    }
  }

  /**
   * Changes the state of the queue: {@code ibv_modify_wq} with {@code IBV_WQ_ATTR_STATE}. A new
   * queue is in RESET. It receives in READY. After an ERROR, it must go to RESET before READY.
   *
   * @param state the new state, not UNKNOWN
   * @throws IllegalArgumentException if the state is UNKNOWN
   * @throws RdmaException if the device refuses it
   */
  public void modify(WorkQueueState state) {
    if (state == WorkQueueState.UNKNOWN) {
      throw new IllegalArgumentException("state is UNKNOWN, must be RESET, READY or ERROR");
    }
    modify(rdma_h.IBV_WQ_ATTR_STATE(), state, Set.of(), Set.of());
  }

  /**
   * Changes flags of the queue: {@code ibv_modify_wq} with {@code IBV_WQ_ATTR_FLAGS}. Flags that
   * are in neither set do not change.
   *
   * @param set the flags to set
   * @param cleared the flags to clear
   * @throws IllegalArgumentException if a flag is in both
   * @throws RdmaException if the device refuses it
   */
  public void modifyFlags(Collection<WorkQueueFlag> set, Collection<WorkQueueFlag> cleared) {
    if (set.stream().anyMatch(cleared::contains)) {
      throw new IllegalArgumentException(
          "flags " + set + " are to be set and " + cleared + " to be cleared; name each flag once");
    }
    modify(rdma_h.IBV_WQ_ATTR_FLAGS(), WorkQueueState.UNKNOWN, set, cleared);
  }

  private void modify(
      int mask,
      WorkQueueState state,
      Collection<WorkQueueFlag> set,
      Collection<WorkQueueFlag> cleared) {
    lifetime.run(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_wq_attr.layout());
            ibv_wq_attr.attr_mask(attributes, mask);
            ibv_wq_attr.wq_state(attributes, state.value());
            ibv_wq_attr.flags(attributes, NativeConstants.mask(set));
            ibv_wq_attr.flags_mask(
                attributes, NativeConstants.mask(set) | NativeConstants.mask(cleared));
            // Some providers return a negative errno for a state that cannot follow the present
            // one.
            PollPause.runPaused(
                pauses,
                () -> {
                  NativeFailures.check(
                      domain.device().info().name(),
                      "ibv_modify_wq",
                      Math.abs(WorkQueues.ibv_modify_wq(queue, attributes)));
                });
          }
        });
  }

  /**
   * Returns the state of the queue as libibverbs knows it.
   *
   * @return the state
   */
  public WorkQueueState state() {
    return lifetime.whileOpen(
        () ->
            NativeConstants.of(WorkQueueState.class, ibv_wq.state(queue), WorkQueueState.UNKNOWN));
  }

  /**
   * Returns the number of the queue, which its completions carry.
   *
   * @return the number
   */
  public int number() {
    return lifetime.whileOpen(() -> ibv_wq.wq_num(queue));
  }

  /**
   * Creates a batch of receive requests in native memory, which one thread fills and posts in one
   * call.
   *
   * @param max the maximum number of requests in one post, from 1 to the depth
   * @return the batch, empty
   * @throws IllegalArgumentException if the number is out of range
   */
  public ReceiveRequests receiveRequests(int max) {
    Range.check("max", max, 1, depth);
    return lifetime.whileOpen(() -> ReceiveRequests.of(this, max, posts));
  }

  /**
   * Returns the protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Returns the native {@code struct ibv_wq *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queue);
  }

  /**
   * Closes the indirection tables that contain this queue, and their queue pairs, then destroys the
   * queue: {@code ibv_destroy_wq}. Does nothing if it is already closed.
   *
   * @throws RdmaException if a destruction failed; everything else was closed
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return queue;
  }

  int sges() {
    return sges;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
