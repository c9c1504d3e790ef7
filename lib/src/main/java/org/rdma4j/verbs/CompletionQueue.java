package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_cq;
import org.rdma4j.bindings.generated.ibv_cq_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_moderate_cq;
import org.rdma4j.bindings.generated.ibv_modify_cq_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.ExtendedPolling;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * A completion queue, {@code struct ibv_cq}: where it is told how work requests ended.
 *
 * <p>All methods may be called from any thread. Completions are polled through {@link Completions},
 * of which each polling thread makes its own.
 */
public final class CompletionQueue implements AutoCloseable {
  private final RdmaDevice device;
  private final @Nullable CompletionChannel channel;
  private final MemorySegment queue;
  private final @Nullable ExtendedPolling extended;
  private final HotCalls polls = new HotCalls();
  private final Reservations capacity;
  private final Lifetime lifetime;
  private volatile boolean notified = true;

  static CompletionQueue create(RdmaDevice device, CompletionQueueConfig config) {
    Range.check("entries", config.entries(), 1, device.limits().maxCompletionQueueEntries());
    Range.checkIndex("vector", config.vector(), device.completionVectors());
    CompletionChannel channel = config.channel();
    SameDevice.check("completion channel", channel == null ? device : channel.device(), device);
    return device
        .lifetime()
        .whileOpen(
            () ->
                channel == null
                    ? createWhileOpen(device, config)
                    : channel.whileOpen(() -> createWhileOpen(device, config)));
  }

  private static CompletionQueue createWhileOpen(RdmaDevice device, CompletionQueueConfig config) {
    CompletionChannel channel = config.channel();
    MemorySegment events = channel == null ? MemorySegment.NULL : channel.handle();
    Set<CompletionField> fields = config.fields();
    if (fields == null) {
      return new CompletionQueue(
          device,
          NativeFailures.created(
              device.info().name(),
              "ibv_create_cq(" + config.entries() + " entries)",
              Calls.pointer(
                  rdma_h.ibv_create_cq$address(),
                  device.context(),
                  config.entries(),
                  MemorySegment.NULL,
                  events,
                  config.vector())),
          config);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_cq_init_attr_ex.layout());
      ibv_cq_init_attr_ex.cqe(init, config.entries());
      ibv_cq_init_attr_ex.channel(init, events);
      ibv_cq_init_attr_ex.comp_vector(init, config.vector());
      ibv_cq_init_attr_ex.wc_flags(init, NativeConstants.mask(fields));
      return new CompletionQueue(
          device,
          NativeFailures.created(
              device.info().name(),
              "ibv_create_cq_ex(" + config.entries() + " entries, " + fields + ")",
              Verbs.ibv_create_cq_ex(device.context(), init)),
          config);
    }
  }

  private CompletionQueue(RdmaDevice device, MemorySegment queue, CompletionQueueConfig config) {
    CompletionChannel channel = config.channel();
    Set<CompletionField> fields = config.fields();
    this.extended =
        fields == null
            ? null
            : new ExtendedPolling(
                queue, NativeConstants.mask(fields), device.callStyle().isCritical());
    this.device = device;
    this.channel = channel;
    this.queue = queue;
    this.capacity = new Reservations(ibv_cq.cqe(queue));
    HotCalls calls = polls;
    this.lifetime =
        channel == null
            ? new Lifetime(name(), () -> destroy(device.info(), calls, queue), device.lifetime())
            : new Lifetime(
                name(),
                () -> {
                  channel.forget(queue.address());
                  destroy(device.info(), calls, queue);
                },
                device.lifetime(),
                channel.lifetime());
    if (channel != null) {
      channel.remember(queue.address(), this);
    }
    device.register(queue.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  private String name() {
    return "completion queue of " + capacity.entries() + " entries of " + device.info().name();
  }

  private static void destroy(DeviceInfo device, HotCalls polls, MemorySegment queue) {
    polls.revoke();
    NativeFailures.check(device.name(), "ibv_destroy_cq", rdma_h.ibv_destroy_cq(queue));
  }

  /**
   * How many completions the queue holds, at least as many as were asked for.
   *
   * @return the number of entries
   */
  public int capacity() {
    return capacity.entries();
  }

  /**
   * Makes room for polled completions, off-heap, which one thread polls into and reads in place.
   *
   * @param max the most completions to poll at once, from 1 to {@link #capacity}
   * @return the room, empty
   * @throws IllegalArgumentException if the number is out of range
   * @throws IllegalStateException if the queue is closed
   */
  public Completions completions(int max) {
    Range.check("max", max, 1, capacity());
    return lifetime.whileOpen(() -> new Completions(this, max, polls));
  }

  /**
   * Asks for an event on the channel when the next completion arrives: {@code ibv_req_notify_cq}.
   * Completions that arrived before may raise none, so poll once more after this and before
   * waiting.
   *
   * @param solicitedOnly whether only a completion of a solicited message, or of a failure, counts
   * @throws IllegalStateException if the queue is closed, or was created without a channel
   * @throws RdmaException if the call fails
   */
  public void requestNotification(boolean solicitedOnly) {
    if (channel == null) {
      throw new IllegalStateException(
          this + " was created without a completion channel, so that no event can arrive");
    }
    lifetime.whileOpen(
        () -> {
          // Before the call, as another thread may take the event before this one goes on.
          if (!solicitedOnly) {
            notified = false;
          }
          int result =
              DataPath.ibv_req_notify_cq(
                  DataPath.ibv_req_notify_cq$op(device.context()),
                  queue.address(),
                  solicitedOnly ? 1 : 0);
          if (result != 0) {
            notified = true;
          }
          NativeFailures.check(device.info().name(), "ibv_req_notify_cq", result);
          return true;
        });
  }

  /** Whether no event is to come that was asked for, of any completion. */
  boolean isNotified() {
    return notified;
  }

  /** That an event was taken from the channel. */
  void takeNotification() {
    notified = true;
  }

  /**
   * The channel on which its events arrive.
   *
   * @return the channel; empty where it was created without one
   */
  public Optional<CompletionChannel> channel() {
    return Optional.ofNullable(channel);
  }

  /**
   * Returns the device that this belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_cq *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   * @throws IllegalStateException if the queue is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queue);
  }

  /**
   * Closes the queue pairs that use this queue, then the queue: {@code ibv_destroy_cq}. Completions
   * that were polled can still be read. Does nothing if it is already closed.
   *
   * @throws RdmaException if a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** What polls it, where it is an extended one. */
  @Nullable ExtendedPolling extended() {
    return extended;
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment queue() {
    return queue;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  Reservations reservations() {
    return capacity;
  }

  <T> T whileOpen(Supplier<T> call) {
    return lifetime.whileOpen(call);
  }

  /**
   * Changes how many completions it holds: {@code ibv_resize_cq}. What is in it stays.
   *
   * @param entries how many at least, from 1 to {@link DeviceAttributes#maxCompletionQueueEntries}
   * @throws IllegalArgumentException if the number is out of range, or less than is promised to
   *     queue pairs
   * @throws IllegalStateException if it is closed
   * @throws RdmaException if the device refuses it
   */
  public void resize(int entries) {
    Range.check("entries", entries, 1, device.limits().maxCompletionQueueEntries());
    lifetime.whileOpen(
        () -> {
          capacity.change(
              entries,
              () -> {
                NativeFailures.check(
                    device.info().name(),
                    "ibv_resize_cq(" + entries + " entries)",
                    rdma_h.ibv_resize_cq(queue, entries));
                return ibv_cq.cqe(queue);
              });
          return true;
        });
  }

  /**
   * Has fewer events raised: {@code ibv_modify_cq}.
   *
   * @param count after how many completions to raise one, 0 to 65535
   * @param period after how many microseconds to raise one at the latest, 0 to 65535
   * @throws IllegalArgumentException if a number is out of range
   * @throws IllegalStateException if it is closed
   * @throws RdmaException if the device refuses it
   */
  public void moderate(int count, int period) {
    Range.check("count", count, 0, 0xffff);
    Range.check("period", period, 0, 0xffff);
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_modify_cq_attr.layout());
            ibv_modify_cq_attr.attr_mask(attributes, rdma_h.IBV_CQ_ATTR_MODERATE());
            MemorySegment moderation = ibv_modify_cq_attr.moderate(attributes);
            ibv_moderate_cq.cq_count(moderation, (short) count);
            ibv_moderate_cq.cq_period(moderation, (short) period);
            NativeFailures.check(
                device.info().name(), "ibv_modify_cq", Verbs.ibv_modify_cq(queue, attributes));
            return true;
          }
        });
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
