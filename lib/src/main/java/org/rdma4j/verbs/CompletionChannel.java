package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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

/**
 * A completion channel, {@code struct ibv_comp_channel}: a file descriptor on which it is told that
 * a completion queue has something to poll.
 *
 * <p>All methods may be called from any thread; where several wait, each event goes to one of them.
 */
public final class CompletionChannel implements AutoCloseable {
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
   * ibv_ack_cq_events}. An event follows a {@link CompletionQueue#requestNotification}; what it
   * tells may have been polled already. A virtual thread does not hold its carrier while it waits.
   *
   * @param timeout how long to wait at most; zero looks and does not wait
   * @return the queue that has completions; empty where none had within that time
   * @throws InterruptedException if the thread is interrupted before or while it waits, which it
   *     notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the channel is closed, also while waiting
   * @throws RdmaException if the event cannot be read
   */
  public Optional<CompletionQueue> awaitEvent(Duration timeout) throws InterruptedException {
    return waits.await(timeout, descriptor, lifetime, this::nextQueue);
  }

  /** The queue of the next event; null where there is none, or of a queue that nobody has. */
  private @Nullable CompletionQueue nextQueue() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment queue = arena.allocate(ADDRESS, 2);
      MemorySegment queueContext = queue.asSlice(ADDRESS.byteSize());
      int result = Calls.integer(rdma_h.ibv_get_cq_event$address(), channel, queue, queueContext);
      if (result == 0) {
        return acknowledge(queue.get(ADDRESS, 0));
      }
      if (Errno.errno() == ErrorNumber.EAGAIN.value()
          || Errno.errno() == ErrorNumber.EINTR.value()) {
        return null;
      }
      throw new RdmaException("ibv_get_cq_event", Errno.errno());
    }
  }

  /**
   * At once: the destruction of a queue waits for its events, and one that nobody acknowledges
   * would make it wait forever.
   */
  private @Nullable CompletionQueue acknowledge(MemorySegment event) {
    WeakReference<CompletionQueue> known = queues.get(event.address());
    rdma_h.ibv_ack_cq_events(event, 1);
    CompletionQueue queue = known == null ? null : known.get();
    if (queue != null) {
      queue.takeNotification();
    }
    return queue;
  }

  /**
   * The file descriptor on which events arrive, for a poll or epoll of one's own. It is
   * non-blocking and belongs to this channel: to be neither read nor closed.
   *
   * @return the descriptor
   * @throws IllegalStateException if the channel is closed
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
   * Ends the waits, closes the completion queues of this channel and their queue pairs, then the
   * channel: {@code ibv_destroy_comp_channel}. Does nothing if it is already closed.
   *
   * @throws RdmaException if a destruction failed; the rest was done all the same
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
