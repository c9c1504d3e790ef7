package org.rdma4j.verbs;

import java.util.Optional;

/**
 * An asynchronous event of a device, {@code struct ibv_async_event}: a failure or a change that no
 * completion tells. It has been acknowledged when it is handed out, and holds nothing back.
 *
 * <p>The object is there where it was created by this library, is still open and still reachable.
 */
public sealed interface AsyncEvent {
  /**
   * What it tells.
   *
   * @return the type
   */
  AsyncEventType type();

  /**
   * An event of a queue pair.
   *
   * @param type what it tells
   * @param number the number of the queue pair, 0 to 0xffffff
   * @param queuePair the queue pair, as described for {@link AsyncEvent}
   */
  record OfQueuePair(AsyncEventType type, int number, Optional<QueuePair> queuePair)
      implements AsyncEvent {}

  /**
   * An event of a completion queue.
   *
   * @param type what it tells
   * @param completionQueue the queue, as described for {@link AsyncEvent}
   */
  record OfCompletionQueue(AsyncEventType type, Optional<CompletionQueue> completionQueue)
      implements AsyncEvent {}

  /**
   * An event of a shared receive queue.
   *
   * @param type what it tells
   * @param sharedReceiveQueue the queue, as described for {@link AsyncEvent}
   */
  record OfSharedReceiveQueue(AsyncEventType type, Optional<SharedReceiveQueue> sharedReceiveQueue)
      implements AsyncEvent {}

  /**
   * An event of a work queue.
   *
   * @param type what it tells
   * @param workQueue the queue, as described for {@link AsyncEvent}
   */
  record OfWorkQueue(AsyncEventType type, Optional<WorkQueue> workQueue) implements AsyncEvent {}

  /**
   * An event of a port.
   *
   * @param type what it tells
   * @param port the port, from 1
   */
  record OfPort(AsyncEventType type, int port) implements AsyncEvent {}

  /**
   * An event of the whole device, or one of a type that is not known.
   *
   * @param type what it tells
   */
  record OfDevice(AsyncEventType type) implements AsyncEvent {}
}
