package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.generated.ibv_srq_attr;
import org.rdma4j.bindings.generated.ibv_srq_init_attr_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.PollPause;
import org.rdma4j.inplace.InPlaceSharedReceives;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * A shared receive queue, {@code struct ibv_srq}: a queue of receive requests that many queue pairs
 * use together, so that not every connection needs enough receives of its own.
 *
 * <pre>{@code
 * SharedReceiveQueue shared = domain.createSharedReceiveQueue(256, 1);
 * QueuePair queuePair =
 *     domain.createQueuePair(QueuePairConfig.reliable(completionQueue).sharedReceiveQueue(shared));
 *
 * ReceiveRequests receives = shared.receiveRequests(16);
 * receives.add(1).into(region, 0, 4096);
 * receives.post();
 * }</pre>
 *
 * <p>The completion of a receive appears on the completion queue of the queue pair that received
 * the message, and carries the number of this queue pair.
 *
 * <p>All methods may be called from any thread. Closing a shared receive queue closes its queue
 * pairs first.
 *
 * @see SharedReceiveQueueConfig
 * @see ReceiveRequests
 * @see TagOperations
 * @see QueuePairConfig#sharedReceiveQueue(SharedReceiveQueue)
 */
public final class SharedReceiveQueue implements AutoCloseable {
  private final ProtectionDomain domain;
  private final MemorySegment queue;
  private final HotCalls posts;
  private final Lifetime lifetime;

  private final SharedReceiveQueueType type;
  private final ReceiveReservations places;

  /** The handles of tagged receives that tag operations have returned. */
  private final Set<Integer> tagHandles = ConcurrentHashMap.newKeySet();

  /** What posts receives, if it is not {@code ibv_post_srq_recv}. */
  private final @Nullable InPlaceSharedReceives inPlace;

  private int sges;

  private SharedReceiveQueue(
      ProtectionDomain domain,
      SharedReceiveQueueConfig config,
      MemorySegment queue,
      @Nullable InPlaceSharedReceives inPlace) {
    this.inPlace = inPlace;
    this.domain = domain;
    this.queue = queue;
    this.type = config.type();
    DeviceInfo device = domain.device().info();
    HotCalls calls = new HotCalls();
    this.posts = calls;
    ReceiveReservations promised = new ReceiveReservations(config);
    this.places = promised;
    Set<PollPause> pauses = config.pauses();
    this.lifetime =
        new Lifetime(
            "shared receive queue of " + device.name(),
            () -> {
              calls.revoke();
              PollPause.runPaused(
                  pauses,
                  () -> {
                    NativeFailures.check(
                        device.name(), "ibv_destroy_srq", rdma_h.ibv_destroy_srq(queue));
                  });
              promised.releaseOwn();
            },
            config.dependsOn(domain).toArray(Lifetime[]::new));
    domain.device().register(queue.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  static SharedReceiveQueue create(ProtectionDomain domain, SharedReceiveQueueConfig config) {
    config.check(domain);
    if (domain.hasThreadDomain()) {
      throw new IllegalStateException(
          "a shared receive queue cannot be in a thread domain, because threads that poll use"
              + " it too; use a protection domain without a thread domain");
    }
    InPlaceChoice.requireProvider(domain.device(), "a shared receive queue", config.completions());
    return Lifetime.whileAllOpen(config.dependsOn(domain), () -> createWhileOpen(domain, config));
  }

  private static boolean isInPlace(ProtectionDomain domain, SharedReceiveQueueConfig config) {
    if (config.access() == QueueAccess.BY_PROVIDER) {
      return false;
    }
    String reason = InPlaceChoice.reasonAgainst(domain.device(), config);
    if (reason != null && config.access() == QueueAccess.IN_PLACE) {
      throw InPlaceChoice.refusal(
          domain.device(),
          "use of a shared receive queue in place",
          "The queue cannot be used in place: " + reason);
    }
    return reason == null;
  }

  private static SharedReceiveQueue createWhileOpen(
      ProtectionDomain domain, SharedReceiveQueueConfig config) {
    boolean isInPlace = isInPlace(domain, config);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_srq_init_attr_ex.layout());
      config.write(init, domain);
      MemorySegment created =
          NativeFailures.created(
              domain.device().info().name(),
              "%s(%s, %d requests of %d pieces)"
                  .formatted(
                      config.type() == SharedReceiveQueueType.BASIC
                          ? "ibv_create_srq"
                          : "ibv_create_srq_ex",
                      config.type(),
                      config.depth(),
                      config.sges()),
              Verbs.ibv_create_srq_ex(domain.device().context(), init));
      SharedReceiveQueue queue =
          new SharedReceiveQueue(
              domain, config, created, isInPlace ? takeOver(domain.device(), created) : null);
      try {
        SharedReceiveQueueAttributes granted =
            queue.queryOr(SharedReceiveQueueAttributes.read(ibv_srq_init_attr_ex.attr(init)));
        queue.sges = granted.sges();
        queue.places.reserveOwn(granted.depth());
      } catch (RuntimeException failed) {
        queue.close();
        throw failed;
      }
      return queue;
    }
  }

  private static InPlaceSharedReceives takeOver(RdmaDevice device, MemorySegment created) {
    try {
      return InPlaceSharedReceives.of(Objects.requireNonNull(device.inPlace().support()), created);
    } catch (RuntimeException failed) {
      NativeFailures.check(
          device.info().name(), "ibv_destroy_srq", rdma_h.ibv_destroy_srq(created));
      throw failed;
    }
  }

  /**
   * Some providers write the granted capacities only in answer to a query, and others (siw) have no
   * query.
   */
  private SharedReceiveQueueAttributes queryOr(SharedReceiveQueueAttributes written) {
    try {
      return query();
    } catch (UnsupportedByDeviceException noQuery) {
      return written;
    }
  }

  /**
   * Returns the type of this queue.
   *
   * @return the type
   */
  public SharedReceiveQueueType type() {
    return type;
  }

  /**
   * Returns how receives are posted to this queue.
   *
   * @return BY_PROVIDER or IN_PLACE, also if it was created with {@link
   *     QueueAccess#IN_PLACE_WHERE_POSSIBLE}
   */
  public QueueAccess access() {
    return inPlace == null ? QueueAccess.BY_PROVIDER : QueueAccess.IN_PLACE;
  }

  /**
   * Returns the number by which the sender of an XRC connection names this queue: {@code
   * ibv_get_srq_num}.
   *
   * @return the number
   * @throws RdmaException if the queue has no number; on most devices only queues of type XRC have
   *     one
   */
  public int number() {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_get_srq_num",
                Verbs.ibv_get_srq_num(queue, number));
            return number.get(ValueLayout.JAVA_INT, 0);
          }
        });
  }

  /**
   * Queries the queue: {@code ibv_query_srq}.
   *
   * @return its current attributes
   * @throws RdmaException if the query fails; {@link UnsupportedByDeviceException} if the provider
   *     has none, such as that of soft-iWARP
   */
  public SharedReceiveQueueAttributes query() {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_srq_attr.layout());
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_query_srq",
                rdma_h.ibv_query_srq(queue, attributes));
            return SharedReceiveQueueAttributes.read(attributes);
          }
        });
  }

  /**
   * Requests an asynchronous event when fewer receives than a limit are posted: {@code
   * ibv_modify_srq} with {@code IBV_SRQ_LIMIT}. The device raises one event; call this method again
   * for the next one.
   *
   * @param limit the limit, from 0, which means no event, to the depth
   * @throws IllegalArgumentException if the limit is out of range
   * @throws RdmaException if the device refuses it
   */
  public void limit(int limit) {
    modify("limit", limit, 0, depth(), rdma_h.IBV_SRQ_LIMIT());
  }

  /**
   * Changes how many receives the queue can hold: {@code ibv_modify_srq} with {@code
   * IBV_SRQ_MAX_WR}.
   *
   * @param depth the maximum number of receives, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueRequests}; at least as many as are posted
   * @throws IllegalArgumentException if the depth is out of range, or more than a completion queue
   *     of its queue pairs can hold
   * @throws RdmaException if the device refuses it
   */
  public void resize(int depth) {
    int max = domain.device().limits().maxSharedReceiveQueueRequests();
    Range.check("depth", depth, 1, max);
    places.change(
        depth,
        () -> {
          modify("depth", depth, 1, max, rdma_h.IBV_SRQ_MAX_WR());
          return queryOr(new SharedReceiveQueueAttributes(depth, sges, 0)).depth();
        });
  }

  private void modify(String name, int value, int min, int max, int mask) {
    Range.check(name, value, min, max);
    lifetime.run(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_srq_attr.layout());
            ibv_srq_attr.max_wr(attributes, value);
            ibv_srq_attr.srq_limit(attributes, value);
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_modify_srq(" + name + " " + value + ")",
                rdma_h.ibv_modify_srq(queue, attributes, mask));
          }
        });
  }

  /**
   * Returns how many receives the queue can hold.
   *
   * @return the granted depth, at least the requested one
   */
  public int depth() {
    return places.depth();
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
    Range.check("max", max, 1, depth());
    return lifetime.whileOpen(() -> ReceiveRequests.of(this, max, posts));
  }

  /**
   * Creates a batch of tag operations in native memory, which one thread fills and posts in one
   * call. The queue must be of type TAG_MATCHING.
   *
   * @param max the maximum number of operations in one post, from 1 to {@link
   *     SharedReceiveQueueConfig#maxTagOperations}
   * @return the batch, empty
   * @throws IllegalArgumentException if the number is out of range
   * @throws IllegalStateException if the queue is closed, or of another type
   */
  public TagOperations tagOperations(int max) {
    if (type != SharedReceiveQueueType.TAG_MATCHING) {
      throw new IllegalStateException(
          this + " is of type " + type + ", must be TAG_MATCHING for this");
    }
    Range.check("max", max, 1, places.maxTagOperations());
    RdmaDevice device = domain.device();
    long maxPieces = Math.max(1, device.extendedAttributes().tagMatching().maxSges());
    return lifetime.whileOpen(
        () -> {
          long op = DataPath.ibv_post_srq_ops$op(device.context());
          if (op == 0) {
            throw NativeFailures.failure(
                device.info().name(), "ibv_post_srq_ops", ErrorNumber.EOPNOTSUPP.value());
          }
          return new TagOperations(
              new HotCall.Target(posts, "TagOperations", device.callsCritically(), op, queue),
              max,
              (int) Math.min(maxPieces, sges),
              tagHandles);
        });
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
   * Returns the native {@code struct ibv_srq *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queue);
  }

  /**
   * Closes the queue pairs of this queue, then destroys the queue: {@code ibv_destroy_srq}. Does
   * nothing if it is already closed.
   *
   * @throws RdmaException if the destruction fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return queue;
  }

  /** Returns what posts receives in place; null if {@code ibv_post_srq_recv} does. */
  @Nullable InPlaceSharedReceives inPlace() {
    return inPlace;
  }

  int sges() {
    return sges;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  ReceiveReservations places() {
    return places;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
