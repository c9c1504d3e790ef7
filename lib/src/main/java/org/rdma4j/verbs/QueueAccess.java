package org.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * How requests are posted to queues, and completions polled from them: by functions of the device's
 * provider, or in place, in the memory that the queues have in this process.
 *
 * <p>In place is <b>experimental</b>: it was proven on the real libmlx5 with a simulated adapter,
 * and was not run on hardware. It takes less time, because there is no call of a library that looks
 * up, locks and copies. It is supported for adapters of mlx5 (ConnectX-4 and newer) on x86-64
 * processors.
 *
 * <p>A completion queue chooses, by {@link CompletionQueueConfig#access}, and so does a shared
 * receive queue. All queue pairs of such a queue are used in place as well, because a poll looks up
 * in their queues which request has completed. Everything is checked as before, and {@link
 * SendRequests}, {@link ReceiveRequests}, {@link PreparedRequests} and {@link Completions} are used
 * as before. In place there are
 *
 * <ul>
 *   <li>queue pairs of the types RC, UC and UD, without flags and without {@link
 *       QueuePairConfig#extended}; each takes a doorbell register of the device for itself;
 *   <li>sends, writes, reads and atomics, inline or not, with immediate data, or with a key to
 *       invalidate; but no binding or invalidation of memory windows, and no segmented sends;
 *   <li>shared receive queues of type BASIC;
 *   <li>completions without times, VLANs, flow tags and tags. A queue cannot be resized.
 * </ul>
 *
 * <p>Whatever a queue in place does not allow, or the device does not, throws an {@link
 * org.rdma4j.UnsupportedByDeviceException} that gives the reason: the creation of a completion
 * queue or a shared receive queue that cannot be used in place, of a queue pair, a work queue or a
 * shared receive queue that cannot use one, and {@link CompletionQueue#resize}. A request whose
 * operation is not allowed in place throws an IllegalStateException, as on any queue pair that does
 * not allow it. {@link QueuePair#access}, {@link CompletionQueue#access} and {@link
 * SharedReceiveQueue#access} return which way was taken.
 *
 * <p>A post or a poll in place takes a lock only while several threads own objects that post to the
 * queue pair, or poll the completion queue. So a program is fastest if each queue has one thread.
 * Posts execute the instruction SFENCE, which the library writes into a page of memory of its own;
 * if the system does not allow that page to be executable, posts take a little longer.
 *
 * <p>Polls in place do not print failed completions to the standard error stream, as libmlx5 does.
 *
 * @see CompletionQueueConfig#access
 * @see SharedReceiveQueueConfig#access
 */
public enum QueueAccess {
  /** Functions of the device's provider. This is the default. */
  BY_PROVIDER,
  /**
   * In place. The creation of a queue that cannot be used in place throws an {@link
   * org.rdma4j.UnsupportedByDeviceException}. Experimental.
   */
  IN_PLACE,
  /**
   * In place if the device and the first queue pair allow it, otherwise by functions of the
   * provider. The first queue pair decides for its queues; the creation of a later queue pair that
   * cannot be used in the same way throws an {@link org.rdma4j.UnsupportedByDeviceException}.
   * Experimental.
   */
  IN_PLACE_WHERE_POSSIBLE;

  /** The system property that changes the default, so that tests can run in place. */
  private static final String PROPERTY = "org.rdma4j.queues";

  /** What configs begin with. */
  static final QueueAccess DEFAULT = of(System.getProperty(PROPERTY));

  static QueueAccess of(@Nullable String property) {
    if (property == null) {
      return BY_PROVIDER;
    }
    return switch (property) {
      case "provider" -> BY_PROVIDER;
      case "in-place" -> IN_PLACE;
      case "in-place-where-possible" -> IN_PLACE_WHERE_POSSIBLE;
      default ->
          throw new IllegalArgumentException(
              "the system property %s is '%s', must be provider, in-place or"
                      .formatted(PROPERTY, property)
                  + " in-place-where-possible");
    };
  }
}
