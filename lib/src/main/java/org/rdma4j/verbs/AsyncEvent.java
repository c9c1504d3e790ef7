package org.rdma4j.verbs;

import java.util.Optional;

/**
 * An asynchronous event of a device, {@code struct ibv_async_event}: a failure or a change that no
 * completion reports. It is acknowledged before {@link RdmaDevice#awaitAsyncEvent} returns it, so
 * it does not delay the destruction of any object.
 *
 * <p>An event contains the object that it concerns if this library created the object and the
 * object is still open and reachable.
 *
 * @see RdmaDevice#awaitAsyncEvent
 * @see AsyncEventType
 */
public sealed interface AsyncEvent {
  /**
   * Returns the type of the event.
   *
   * @return the type
   */
  AsyncEventType type();

  /**
   * An event of a queue pair.
   *
   * @param type the type of the event
   * @param number the number of the queue pair, 0 to 0xffffff
   * @param queuePair the queue pair; may be empty, see {@link AsyncEvent}
   */
  record OfQueuePair(AsyncEventType type, int number, Optional<QueuePair> queuePair)
      implements AsyncEvent {}

  /**
   * An event of a completion queue.
   *
   * @param type the type of the event
   * @param completionQueue the queue; may be empty, see {@link AsyncEvent}
   */
  record OfCompletionQueue(AsyncEventType type, Optional<CompletionQueue> completionQueue)
      implements AsyncEvent {}

  /**
   * An event of a shared receive queue.
   *
   * @param type the type of the event
   * @param sharedReceiveQueue the queue; may be empty, see {@link AsyncEvent}
   */
  record OfSharedReceiveQueue(AsyncEventType type, Optional<SharedReceiveQueue> sharedReceiveQueue)
      implements AsyncEvent {}

  /**
   * An event of a work queue.
   *
   * @param type the type of the event
   * @param workQueue the queue; may be empty, see {@link AsyncEvent}
   */
  record OfWorkQueue(AsyncEventType type, Optional<WorkQueue> workQueue) implements AsyncEvent {}

  /**
   * An event of a port.
   *
   * @param type the type of the event
   * @param port the port, from 1
   */
  record OfPort(AsyncEventType type, int port) implements AsyncEvent {}

  /**
   * An event of the whole device, or an event of an unknown type.
   *
   * @param type the type of the event
   */
  record OfDevice(AsyncEventType type) implements AsyncEvent {}
}
