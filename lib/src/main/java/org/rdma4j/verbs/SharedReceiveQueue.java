package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_srq_attr;
import org.rdma4j.bindings.generated.ibv_srq_init_attr_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.attribute.DeviceAttributes;

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

  private final SharedReceiveQueueType type;
  private final ReceiveReservations places;

  /** The handles that tag operations gave. */
  private final Set<Integer> tagHandles = ConcurrentHashMap.newKeySet();

  private int sges;

  private SharedReceiveQueue(
      ProtectionDomain domain, SharedReceiveQueueConfig config, MemorySegment queue) {
    this.domain = domain;
    this.queue = queue;
    this.type = config.type();
    DeviceInfo device = domain.device().info();
    HotCalls calls = new HotCalls();
    this.posts = calls;
    ReceiveReservations promised = new ReceiveReservations(config);
    this.places = promised;
    this.lifetime =
        new Lifetime(
            "shared receive queue of " + device.name(),
            () -> {
              calls.revoke();
              NativeFailures.check(device.name(), "ibv_destroy_srq", rdma_h.ibv_destroy_srq(queue));
              promised.releaseOwn();
            },
            config.dependsOn(domain).toArray(Lifetime[]::new));
    domain.device().register(queue.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  static SharedReceiveQueue create(ProtectionDomain domain, SharedReceiveQueueConfig config) {
    config.check(domain.device());
    if (domain.hasThreadDomain()) {
      throw new IllegalStateException(
          "a shared receive queue cannot be in a thread domain, as those who poll use it too");
    }
    return Lifetime.whileAllOpen(config.dependsOn(domain), () -> createWhileOpen(domain, config));
  }

  private static SharedReceiveQueue createWhileOpen(
      ProtectionDomain domain, SharedReceiveQueueConfig config) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_srq_init_attr_ex.layout());
      config.write(init, domain);
      MemorySegment created =
          NativeFailures.created(
              domain.device().info().name(),
              "ibv_create_srq(%s, %d requests of %d pieces)"
                  .formatted(config.type(), config.depth(), config.sges()),
              Verbs.ibv_create_srq_ex(domain.device().context(), init));
      SharedReceiveQueue queue = new SharedReceiveQueue(domain, config, created);
      // Some providers tell what they granted only when they are asked.
      try {
        SharedReceiveQueueAttributes granted = queue.query();
        queue.sges = granted.sges();
        queue.places.reserveOwn(granted.depth());
      } catch (RuntimeException failed) {
        queue.close();
        throw failed;
      }
      return queue;
    }
  }

  /**
   * What it is.
   *
   * @return the type
   */
  public SharedReceiveQueueType type() {
    return type;
  }

  /**
   * The number by which senders of extended reliable connections name it: {@code ibv_get_srq_num}.
   *
   * @return the number
   * @throws IllegalStateException if it is closed
   * @throws RdmaException if it has none, on most devices where it is not EXTENDED
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
   * Queries it: {@code ibv_query_srq}.
   *
   * @return its attributes as of now
   * @throws IllegalStateException if it is closed
   * @throws RdmaException if the query fails
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
   * Has the device raise an event once fewer than so many receives are posted: {@code
   * ibv_modify_srq} with {@code IBV_SRQ_LIMIT}. It raises it once; set the limit anew for the next.
   *
   * @param limit how many, 0 for no event, to the depth
   * @throws IllegalArgumentException if the limit is out of range
   * @throws IllegalStateException if it is closed
   * @throws RdmaException if the device refuses it
   */
  public void limit(int limit) {
    modify("limit", limit, 0, depth(), rdma_h.IBV_SRQ_LIMIT());
  }

  /**
   * Changes how many receives it holds: {@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
   *
   * @param depth how many, from 1 to {@link DeviceAttributes#maxSharedReceiveQueueRequests}; not
   *     fewer than are posted
   * @throws IllegalArgumentException if the depth is out of range, or more than a completion queue
   *     of its queue pairs can hold
   * @throws IllegalStateException if it is closed
   * @throws RdmaException if the device refuses it
   */
  public void resize(int depth) {
    int max = domain.device().limits().maxSharedReceiveQueueRequests();
    Range.check("depth", depth, 1, max);
    places.change(
        depth,
        () -> {
          modify("depth", depth, 1, max, rdma_h.IBV_SRQ_MAX_WR());
          return query().depth();
        });
  }

  private void modify(String name, int value, int min, int max, int mask) {
    Range.check(name, value, min, max);
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_srq_attr.layout());
            ibv_srq_attr.max_wr(attributes, value);
            ibv_srq_attr.srq_limit(attributes, value);
            NativeFailures.check(
                domain.device().info().name(),
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
    return places.depth();
  }

  /**
   * Makes room for receive requests, off-heap, which one thread builds in place and posts together.
   *
   * @param max the most requests to post in one call, from 1 to the depth
   * @return the room, empty
   * @throws IllegalArgumentException if the number is out of range
   * @throws IllegalStateException if it is closed
   */
  public ReceiveRequests receiveRequests(int max) {
    Range.check("max", max, 1, depth());
    return lifetime.whileOpen(() -> ReceiveRequests.of(this, max, posts));
  }

  /**
   * Makes room for operations on the tags of a TAG_MATCHING one, off-heap, which one thread builds
   * in place and posts together.
   *
   * @param max the most operations to post in one call, from 1 to {@link
   *     SharedReceiveQueueConfig#maxTagOperations}
   * @return the room, empty
   * @throws IllegalArgumentException if the number is out of range
   * @throws IllegalStateException if it is closed, or not TAG_MATCHING
   */
  public TagOperations tagOperations(int max) {
    if (type != SharedReceiveQueueType.TAG_MATCHING) {
      throw new IllegalStateException(this + " is " + type + ", must be TAG_MATCHING for this");
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
              new HotCall.Target(
                  posts, "TagOperations", device.callStyle().isCritical(), op, queue),
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
   * @throws IllegalStateException if it is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queue);
  }

  /**
   * Closes its queue pairs, then destroys it: {@code ibv_destroy_srq}. Does nothing if it is
   * already closed.
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
