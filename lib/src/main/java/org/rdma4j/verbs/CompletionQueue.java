package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
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
import org.rdma4j.datapath.PollPause;
import org.rdma4j.datapath.QueuePolling;
import org.rdma4j.datapath.QueueUse;
import org.rdma4j.datapath.ThreadConfinement;
import org.rdma4j.efa.EfaLibrary;
import org.rdma4j.inplace.InPlaceCompletions;
import org.rdma4j.inplace.InPlaceSupport;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * A completion queue, {@code struct ibv_cq}: the device adds a work completion to it when a work
 * request of a queue pair ends. Many queue pairs can share one completion queue.
 *
 * <p>A program polls for completions in a loop, or gives the queue a completion channel and sleeps
 * until there is one:
 *
 * <pre>{@code
 * CompletionChannel channel = device.createCompletionChannel();
 * CompletionQueue queue = device.createCompletionQueue(64, channel);
 * Completions completions = queue.completions(16);
 *
 * int polled = completions.await(Duration.ofSeconds(1));
 * for (int i = 0; i < polled; i++) {
 *   completions.requireSuccess(i);
 * }
 * }</pre>
 *
 * <p>All methods may be called from any thread. Each thread that polls creates a {@link
 * Completions} of its own. A queue that is {@linkplain CompletionQueueConfig#singleThreaded
 * single-threaded}, or in a thread domain, is polled by one thread at a time: the next thread can
 * poll after the one before has released its {@code Completions}.
 *
 * @see CompletionQueueConfig
 * @see Completions
 * @see CompletionChannel
 * @see QueuePairConfig
 */
public final class CompletionQueue implements AutoCloseable {
  private final RdmaDevice device;
  private final @Nullable CompletionChannel channel;
  private final MemorySegment queue;
  private final boolean isExtended;

  /** What polls, if it is not {@code ibv_poll_cq}. */
  private final @Nullable QueuePolling polling;

  private final HotCalls polls;

  /** Stops polls during calls that change the queue; null if the provider takes a lock for that. */
  private final @Nullable PollPause pause;

  private final @Nullable ProtectionDomain parentDomain;
  private final Reservations capacity;
  private final Lifetime lifetime;
  private volatile boolean notified = true;
  private final AtomicInteger eventsTaken = new AtomicInteger();

  static CompletionQueue create(RdmaDevice device, CompletionQueueConfig config) {
    Range.check("entries", config.entries(), 1, device.limits().maxCompletionQueueEntries());
    Range.checkIndex("vector", config.vector(), device.completionVectors());
    CompletionChannel channel = config.channel();
    config.check(device);
    SameDevice.check("completion channel", channel == null ? device : channel.device(), device);
    if (config.access() == QueueAccess.IN_PLACE) {
      String reason = InPlaceChoice.reasonAgainst(device, config);
      if (reason != null) {
        throw InPlaceChoice.refusal(
            device,
            "use of a completion queue in place",
            "The queue cannot be used in place: " + reason);
      }
    }
    return Lifetime.whileAllOpen(dependsOn(device, config), () -> createWhileOpen(device, config));
  }

  private static List<Lifetime> dependsOn(RdmaDevice device, CompletionQueueConfig config) {
    CompletionChannel channel = config.channel();
    ProtectionDomain domain = config.parentDomain();
    return Stream.of(
            device.lifetime(),
            channel == null ? null : channel.lifetime(),
            domain == null ? null : domain.lifetime())
        .filter(Objects::nonNull)
        .toList();
  }

  private static CompletionQueue createWhileOpen(RdmaDevice device, CompletionQueueConfig config) {
    CompletionChannel channel = config.channel();
    MemorySegment events = channel == null ? MemorySegment.NULL : channel.handle();
    Set<CompletionField> fields = config.fields();
    if (fields == null) {
      return own(
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
      writeOptions(init, config);
      String name = device.info().name();
      boolean isEfa = fields.contains(CompletionField.SOURCE_GID);
      return own(
          device,
          NativeFailures.created(
              name,
              (isEfa ? "efadv_create_cq(" : "ibv_create_cq_ex(")
                  + config.entries()
                  + " entries, "
                  + fields
                  + ")",
              isEfa
                  ? EfaLibrary.createCompletionQueue(name, device.context(), init)
                  : Verbs.ibv_create_cq_ex(device.context(), init)),
          config);
    }
  }

  private static CompletionQueue own(
      RdmaDevice device, MemorySegment created, CompletionQueueConfig config) {
    try {
      return new CompletionQueue(device, created, config);
    } catch (RuntimeException failed) {
      NativeFailures.check(device.info().name(), "ibv_destroy_cq", rdma_h.ibv_destroy_cq(created));
      throw failed;
    }
  }

  private static void writeOptions(MemorySegment init, CompletionQueueConfig config) {
    int mask = 0;
    ProtectionDomain domain = config.parentDomain();
    if (domain != null) {
      mask |= rdma_h.IBV_CQ_INIT_ATTR_MASK_PD();
      ibv_cq_init_attr_ex.parent_domain(init, domain.pointer());
    }
    int flags =
        (config.ignoreOverrun() ? rdma_h.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN() : 0)
            | (config.singleThreaded() ? rdma_h.IBV_CREATE_CQ_ATTR_SINGLE_THREADED() : 0);
    if (flags != 0) {
      mask |= rdma_h.IBV_CQ_INIT_ATTR_MASK_FLAGS();
      ibv_cq_init_attr_ex.flags(init, flags);
    }
    ibv_cq_init_attr_ex.comp_mask(init, mask);
  }

  private CompletionQueue(RdmaDevice device, MemorySegment queue, CompletionQueueConfig config) {
    CompletionChannel channel = config.channel();
    this.isExtended = config.fields() != null;
    this.device = device;
    this.channel = channel;
    this.queue = queue;
    this.capacity = new Reservations(ibv_cq.cqe(queue));
    this.parentDomain = config.parentDomain();
    ThreadConfinement confinement = confinement(config, name());
    QueueUse use = config.access() == QueueAccess.BY_PROVIDER ? null : new QueueUse(confinement);
    HotCalls calls = use == null ? new HotCalls(confinement) : use.calls();
    this.polling = polling(device, queue, config, use);
    this.polls = calls;
    this.pause = confinement == null ? null : new PollPause(calls);
    this.lifetime =
        new Lifetime(
            name(),
            () -> {
              if (channel != null) {
                channel.wake();
              }
            },
            () -> {
              if (channel != null) {
                channel.forget(queue.address());
              }
              destroy(device.info(), calls, queue);
            },
            dependsOn(device, config).toArray(Lifetime[]::new));
    if (channel != null) {
      channel.remember(queue.address(), this);
    }
    device.register(queue.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  /** Returns what polls, if it is not {@code ibv_poll_cq}. */
  private static @Nullable QueuePolling polling(
      RdmaDevice device,
      MemorySegment queue,
      CompletionQueueConfig config,
      @Nullable QueueUse use) {
    Set<CompletionField> fields = config.fields();
    QueuePolling extended =
        fields == null
            ? null
            : new ExtendedPolling(
                queue,
                NativeConstants.mask(fields),
                fields.contains(CompletionField.FLAGS)
                    || fields.contains(CompletionField.IMMEDIATE)
                    || fields.contains(CompletionField.TAG),
                fields.contains(CompletionField.SOURCE_GID)
                    ? EfaLibrary.sourceReader(device.info().name(), queue)
                    : null,
                device.callsCritically());
    if (use == null) {
      return extended;
    }
    InPlaceSupport support = device.inPlace().support();
    if (config.access() == QueueAccess.IN_PLACE) {
      return InPlaceCompletions.of(Objects.requireNonNull(support), queue, use);
    }
    if (support == null || InPlaceChoice.reasonAgainst(device, config) != null) {
      return extended;
    }
    return new LatePolling(
        extended != null
            ? extended
            : LatePolling.byProvider(
                DataPath.ibv_poll_cq$op(device.context()),
                queue.address(),
                device.callsCritically()),
        () -> InPlaceCompletions.of(Objects.requireNonNull(support), queue, use));
  }

  /** Returns what lets one thread at a time poll; null if any number of threads may. */
  private static @Nullable ThreadConfinement confinement(
      CompletionQueueConfig config, String name) {
    ProtectionDomain domain = config.parentDomain();
    if (domain != null && domain.hasThreadDomain()) {
      return domain.confinement();
    }
    return config.singleThreaded() ? new ThreadConfinement(name) : null;
  }

  private String name() {
    return "completion queue of " + capacity.entries() + " entries of " + device.info().name();
  }

  private static void destroy(DeviceInfo device, HotCalls polls, MemorySegment queue) {
    polls.revoke();
    NativeFailures.check(device.name(), "ibv_destroy_cq", rdma_h.ibv_destroy_cq(queue));
  }

  /**
   * Returns how many completions the queue can hold: at least as many as it was created with.
   *
   * @return the number of entries
   */
  public int capacity() {
    return capacity.entries();
  }

  /**
   * Creates a batch for polled completions in native memory, which one thread polls into and reads
   * in place.
   *
   * @param max the maximum number of completions in one poll, from 1 to {@link #capacity}
   * @return the batch, empty
   * @throws IllegalArgumentException if the number is out of range
   */
  public Completions completions(int max) {
    Range.check("max", max, 1, capacity());
    return lifetime.whileOpen(() -> new Completions(this, max, polls));
  }

  /**
   * Requests one event on the channel when the next completion arrives: {@code ibv_req_notify_cq}.
   * Completions that arrived before this call may cause no event, so poll once more after it and
   * before waiting. {@link Completions#await} does all of this.
   *
   * @param solicitedOnly true if only the completion of a solicited message or of a failed request
   *     is to cause the event
   * @throws IllegalStateException if the queue is closed, or was created without a channel
   * @throws RdmaException if the call fails
   */
  public void requestNotification(boolean solicitedOnly) {
    if (channel == null) {
      throw new IllegalStateException(
          this
              + " was created without a completion channel, on which the event would arrive;"
              + " create it with one");
    }
    lifetime.whileOpen(
        () -> {
          // Set before the call, because another thread may take the event before the call returns.
          if (!solicitedOnly) {
            notified = false;
          }
          InPlaceCompletions inPlace = inPlace();
          if (inPlace != null) {
            inPlace.requestEvent(solicitedOnly);
            return true;
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

  /** Returns whether no event is outstanding that was requested for any completion. */
  boolean isNotified() {
    return notified;
  }

  /** Records that an event of this queue was taken from the channel. */
  void takeNotification() {
    InPlaceCompletions inPlace = inPlace();
    if (inPlace != null) {
      // Before a thread can see that it has to request the next event.
      inPlace.countEvent();
    }
    notified = true;
    eventsTaken.incrementAndGet();
  }

  /**
   * Returns how many events of this queue were taken from the channel. A thread that waits for one
   * has to poll once more when another thread has taken it, which may leave completions behind.
   */
  int eventsTaken() {
    return eventsTaken.get();
  }

  /**
   * Returns the channel on which the events of this queue arrive.
   *
   * @return the channel; empty if the queue was created without one
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
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queue);
  }

  /**
   * Closes the queue pairs that use this queue, then the queue: {@code ibv_destroy_cq}. Completions
   * that were polled before can still be read. Does nothing if it is already closed.
   *
   * @throws RdmaException if a destruction failed; everything else was closed
   */
  @Override
  public void close() {
    lifetime.close();
  }

  boolean isExtended() {
    return isExtended;
  }

  /** Returns what polls the queue; null if {@code ibv_poll_cq} does. */
  @Nullable QueuePolling polling() {
    return polling;
  }

  /**
   * Returns how completions are polled from this queue. Of a queue that was created with {@link
   * QueueAccess#IN_PLACE_WHERE_POSSIBLE}, the first queue pair, work queue or shared receive queue
   * that uses it decides.
   *
   * @return BY_PROVIDER or IN_PLACE; IN_PLACE_WHERE_POSSIBLE until that is decided
   */
  public QueueAccess access() {
    if (inPlace() != null) {
      return QueueAccess.IN_PLACE;
    }
    return isByProvider() ? QueueAccess.BY_PROVIDER : QueueAccess.IN_PLACE_WHERE_POSSIBLE;
  }

  /** Returns what polls the queue in place; null if it is not used in place, or not yet. */
  @Nullable InPlaceCompletions inPlace() {
    if (polling instanceof LatePolling late) {
      return late.inPlace();
    }
    return polling instanceof InPlaceCompletions inPlace ? inPlace : null;
  }

  /** Returns whether functions of the provider poll the queue, and will do so. */
  boolean isByProvider() {
    return inPlace() == null && !(polling instanceof LatePolling late && !late.isDecided());
  }

  /** Decides whether the queue is used in place, if it is open. */
  void decide(boolean isInPlace) {
    if (polling instanceof LatePolling late) {
      late.decide(isInPlace);
    }
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment queue() {
    return queue;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Nullable ProtectionDomain parentDomain() {
    return parentDomain;
  }

  /** Returns what stops polls during calls that change the queue; null if nothing need do so. */
  @Nullable PollPause pause() {
    return pause;
  }

  /**
   * Returns what has to stop the polls of some queues during a call that changes them. Calls that
   * create, change or destroy what completes there are such calls.
   */
  static Set<PollPause> pauses(@Nullable CompletionQueue... queues) {
    Set<PollPause> pauses = new HashSet<>();
    for (CompletionQueue queue : queues) {
      if (queue != null && queue.pause != null) {
        pauses.add(queue.pause);
      }
    }
    return pauses;
  }

  Reservations reservations() {
    return capacity;
  }

  <T> T whileOpen(Supplier<T> call) {
    return lifetime.whileOpen(call);
  }

  /**
   * Changes how many completions the queue can hold: {@code ibv_resize_cq}. Completions in the
   * queue stay there.
   *
   * @param entries the minimum number of entries, from 1 to {@link
   *     DeviceAttributes#maxCompletionQueueEntries}
   * @throws IllegalArgumentException if the number is out of range, or less than the requests of
   *     all queue pairs of this queue need
   * @throws UnsupportedByDeviceException if the queue is used {@linkplain QueueAccess in place}
   * @throws RdmaException if the device refuses it
   */
  public void resize(int entries) {
    Range.check("entries", entries, 1, device.limits().maxCompletionQueueEntries());
    if (inPlace() != null) {
      throw InPlaceChoice.refusal(
          device,
          "ibv_resize_cq(" + entries + " entries)",
          "The "
              + this
              + " is used in place, and cannot be resized; create it with enough entries, or with"
              + " QueueAccess.BY_PROVIDER");
    }
    lifetime.whileOpen(
        () -> {
          capacity.change(
              entries,
              () -> {
                NativeFailures.check(
                    device.info().name(),
                    "ibv_resize_cq(" + entries + " entries)",
                    PollPause.whilePaused(
                        pauses(this), () -> rdma_h.ibv_resize_cq(queue, entries)));
                return ibv_cq.cqe(queue);
              });
          return true;
        });
  }

  /**
   * Reduces the number of events (moderation): {@code ibv_modify_cq}. An event is raised after a
   * number of completions, or after a time if that comes first.
   *
   * @param count the number of completions after which an event is raised, 0 to 65535
   * @param period the time in microseconds after which an event is raised at the latest, 0 to 65535
   * @throws IllegalArgumentException if a number is out of range
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
