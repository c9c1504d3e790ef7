package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_comp_channel;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.Waits;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.ThreadMemory;

/**
 * A completion channel, {@code struct ibv_comp_channel}: a file descriptor on which an event
 * arrives when a completion queue has completions to poll. Several completion queues can share one
 * channel.
 *
 * <p>If a queue has a channel of its own, {@link Completions#await} does all that is needed to wait
 * for a completion. With several queues on a channel, request an event of each queue, poll all of
 * them, and then wait. The event names the queue:
 *
 * <pre>{@code
 * for (CompletionQueue each : queues) {
 *   each.requestNotification(false);
 * }
 * while (running) {
 *   pollAll(); // finds also what came before the requests and therefore raises no event
 *   channel.awaitEvent(timeout).ifPresent(queue -> queue.requestNotification(false));
 * }
 * }</pre>
 *
 * <p>A thread that waits for the events of the connection manager too, or has to be woken by other
 * threads, waits in a {@link org.rdma4j.cm.ChannelSet}.
 *
 * <p>All methods may be called from any thread. If several threads wait, each event goes to one of
 * them.
 *
 * @see RdmaDevice#createCompletionChannel
 * @see Completions#await
 * @see CompletionQueue#requestNotification
 */
public final class CompletionChannel implements AutoCloseable {
  /** The queue of an event, and the context of that queue. */
  private static final ThreadMemory EVENT =
      new ThreadMemory(2 * ADDRESS.byteSize(), ADDRESS.byteSize());

  private final RdmaDevice device;
  private final MemorySegment channel;
  private final int descriptor;
  private final Map<Long, WeakReference<CompletionQueue>> queues = new ConcurrentHashMap<>();
  private final Waits waits;
  private final Lifetime lifetime;

  static CompletionChannel create(RdmaDevice device) {
    return device
        .lifetime()
        .whileOpen(
            () ->
                new CompletionChannel(
                    device,
                    NativeFailures.created(
                        device.info().name(),
                        "ibv_create_comp_channel",
                        Calls.pointer(
                            rdma_h.ibv_create_comp_channel$address(), device.context()))));
  }

  private CompletionChannel(RdmaDevice device, MemorySegment channel) {
    this.device = device;
    this.channel = channel;
    this.descriptor = ibv_comp_channel.fd(channel);
    Waits waiting = new Waits();
    this.waits = waiting;
    this.lifetime =
        new Lifetime(
            "completion channel of " + device.info().name(),
            waiting::wake,
            () ->
                NativeFailures.check(
                    device.info().name(),
                    "ibv_destroy_comp_channel",
                    rdma_h.ibv_destroy_comp_channel(channel)),
            device.lifetime());
    try {
      Libc.setNonBlocking(descriptor);
    } catch (RuntimeException failed) {
      lifetime.close();
      throw failed;
    }
    Leaks.watch(this, lifetime);
  }

  /**
   * Waits for the next event and acknowledges it: {@code ibv_get_cq_event}, {@code
   * ibv_ack_cq_events}. Each {@link CompletionQueue#requestNotification} leads to one event at
   * most. The completion that caused it may have been polled already. A virtual thread does not
   * block its carrier while it waits.
   *
   * @param timeout the maximum time to wait; zero means not to wait
   * @return the queue that has completions; empty if no event came within that time
   * @throws InterruptedException if the thread is interrupted before or while it waits; it notices
   *     the interrupt within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the channel is closed, also while waiting
   * @throws RdmaException if the event cannot be read
   */
  public Optional<CompletionQueue> awaitEvent(Duration timeout) throws InterruptedException {
    return waits.await(timeout, descriptor, lifetime, this::nextQueue);
  }

  /**
   * Takes the next event if there is one, and acknowledges it: {@code ibv_get_cq_event}, {@code
   * ibv_ack_cq_events}. It does not wait and ignores interrupts.
   *
   * @return the queue that has completions; empty if there is no event
   * @throws IllegalStateException if the channel is closed
   * @throws RdmaException if the event cannot be read
   */
  public Optional<CompletionQueue> pollEvent() {
    return lifetime.whileOpen(() -> Optional.ofNullable(nextQueue()));
  }

  /**
   * Waits until there is an event, and leaves it there: {@code poll} on the {@link
   * #fileDescriptor}. A program that sleeps can thus handle the completions first: two system calls
   * less between a completion and the answer to it. When nothing is urgent, it takes the event
   * ({@link #awaitEvent} with a timeout of zero), requests the next, and polls once more, because
   * what completed before the request raises no event. A virtual thread does not block its carrier
   * while it waits.
   *
   * @param timeout the maximum time to wait; zero means not to wait
   * @return true if there is an event, which another thread may take first; false if none came
   *     within that time
   * @throws InterruptedException if the thread is interrupted before or while it waits; it notices
   *     the interrupt within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the channel is closed, also while waiting
   * @throws RdmaException if the wait fails
   */
  public boolean awaitReady(Duration timeout) throws InterruptedException {
    return waits.awaitReady(timeout, descriptor, lifetime);
  }

  /**
   * Waits as {@link #awaitReady(Duration)} does, or until the queue of the caller is closed, or a
   * condition holds that an event taken from this channel may make true.
   *
   * @throws IllegalStateException if this channel or that queue is closed, also while waiting
   */
  boolean awaitReady(Duration timeout, Lifetime queue, BooleanSupplier condition)
      throws InterruptedException {
    return waits.awaitReady(timeout, descriptor, lifetime, queue, condition);
  }

  /** Wakes the threads that wait, because a queue of theirs may be closing. */
  void wake() {
    waits.wake();
  }

  /**
   * Returns the queue of the next event; null if there is no event, or its queue is no longer
   * reachable.
   */
  private @Nullable CompletionQueue nextQueue() {
    MemorySegment queue = EVENT.get();
    MemorySegment queueContext = queue.asSlice(ADDRESS.byteSize());
    int result = Calls.integer(rdma_h.ibv_get_cq_event$address(), channel, queue, queueContext);
    if (result == 0) {
      return acknowledge(queue.get(ADDRESS, 0));
    }
    if (Errno.errno() == ErrorNumber.EAGAIN.value() || Errno.errno() == ErrorNumber.EINTR.value()) {
      return null;
    }
    throw new RdmaException("ibv_get_cq_event", Errno.errno());
  }

  /**
   * Acknowledges an event and returns its queue. The destruction of a queue waits until all of its
   * events are acknowledged, and would otherwise wait forever.
   */
  private @Nullable CompletionQueue acknowledge(MemorySegment event) {
    WeakReference<CompletionQueue> known = queues.get(event.address());
    rdma_h.ibv_ack_cq_events(event, 1);
    CompletionQueue queue = known == null ? null : known.get();
    if (queue != null) {
      queue.takeNotification();
      waits.wakeOthers();
    }
    return queue;
  }

  /**
   * Returns the file descriptor on which events arrive, for programs that wait with poll or epoll
   * themselves. It is non-blocking. It belongs to this channel; do not read from it or close it.
   *
   * @return the descriptor
   */
  public int fileDescriptor() {
    return lifetime.whileOpen(() -> descriptor);
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
   * Ends all waits, closes the completion queues of this channel and their queue pairs, then the
   * channel: {@code ibv_destroy_comp_channel}. Does nothing if it is already closed.
   *
   * @throws RdmaException if a destruction failed; everything else was closed
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment handle() {
    return channel;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  <T> T whileOpen(Supplier<T> call) {
    return lifetime.whileOpen(call);
  }

  void remember(long address, CompletionQueue queue) {
    queues.put(address, new WeakReference<>(queue));
  }

  void forget(long address) {
    queues.remove(address);
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
