package org.rdma4j.cm;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/**
 * The queue pair of an identifier with a domain, and a completion queue and channel for each
 * direction, of its own: what {@code rdma_create_qp} makes where it is given none. On it, the calls
 * of rdma_verbs.h: one request at a time, and a wait for each completion.
 *
 * <p>For what a few lines are to say. {@link SendRequests} and {@link Completions} of a queue pair
 * do the same in batches, and faster.
 *
 * <p>All methods may be called from any thread. Posts to one direction go one after the other, and
 * so do waits.
 */
public final class SimpleMessages implements AutoCloseable {
  /** What datagrams of the connection manager carry: {@code RDMA_UDP_QKEY}. */
  public static final int UDP_QUEUE_KEY = rdma_h.RDMA_UDP_QKEY();

  private static final int MAX_PIECES = 4;

  private final ProtectionDomain domain;
  private final Direction sending;
  private final Direction receiving;
  private final QueuePair queuePair;
  private final ReentrantLock posting = new ReentrantLock();
  private final SendRequests sends;
  private final ReceiveRequests receives;

  private SimpleMessages(
      ProtectionDomain domain, Direction sending, Direction receiving, QueuePair queuePair) {
    this.domain = domain;
    this.sending = sending;
    this.receiving = receiving;
    this.queuePair = queuePair;
    this.sends = queuePair.sendRequests(1);
    this.receives = queuePair.receiveRequests(1);
  }

  /**
   * Makes the queue pair of an identifier, and all that belongs to it.
   *
   * @param id the identifier, bound to a device
   * @param sendDepth the most outstanding sends, reads and writes, at least 1
   * @param receiveDepth the most outstanding receives, at least 1
   * @return the queues, to be closed, with the queue pair
   * @throws IllegalArgumentException where a depth is beyond what the device offers
   * @throws IllegalStateException where the identifier is closed, has no device yet, or a queue
   *     pair already
   * @throws RdmaException where something cannot be created
   */
  public static SimpleMessages create(CmId id, int sendDepth, int receiveDepth) {
    RdmaDevice device = id.device();
    Deque<Runnable> undo = new ArrayDeque<>();
    try {
      ProtectionDomain domain = device.allocateProtectionDomain();
      undo.push(domain::close);
      Direction sending = Direction.of(device, sendDepth, undo);
      Direction receiving = Direction.of(device, receiveDepth, undo);
      QueuePairConfig config =
          QueuePairConfig.of(id.portSpace().queuePairType(), sending.queue, receiving.queue)
              .sendDepth(sendDepth)
              .receiveDepth(receiveDepth)
              .sendSges(MOST_PIECES)
              .receiveSges(MOST_PIECES);
      return new SimpleMessages(domain, sending, receiving, id.createQueuePair(domain, config));
    } catch (RuntimeException failed) {
      undo.forEach(Runnable::run);
      throw failed;
    }
  }

  /**
   * A request that has ended well.
   *
   * @param id that it was posted with
   * @param opcode what it was
   * @param bytes how many arrived, for a receive or a read; of datagrams, with the 40 of the header
   * @param immediate the immediate value that arrived, 0 where there was none
   * @param sourceQueuePairNumber from where a datagram came
   */
  public record Completed(
      long id, CompletionOpcode opcode, long bytes, int immediate, int sourceQueuePairNumber) {}

  /** The completions of one direction. */
  private static final class Direction {
    final CompletionQueue queue;
    private final Completions completions;
    private final ReentrantLock waiting = new ReentrantLock();

    private Direction(CompletionQueue queue) {
      this.queue = queue;
      this.completions = queue.completions(1);
    }

    static Direction of(RdmaDevice device, int depth, Deque<Runnable> undo) {
      CompletionChannel channel = device.createCompletionChannel();
      undo.push(channel::close);
      return new Direction(device.createCompletionQueue(depth, channel));
    }

    Optional<Completed> await(Duration timeout) throws InterruptedException {
      Deadline deadline = Deadline.after(timeout);
      if (!waiting.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
        return Optional.empty();
      }
      try {
        if (completions.await(deadline.remaining()) == 0) {
          return Optional.empty();
        }
        completions.requireSuccess(0);
        return Optional.of(
            new Completed(
                completions.workRequestId(0),
                completions.opcode(0),
                completions.byteLength(0),
                completions.hasImmediate(0) ? completions.immediate(0) : 0,
                completions.sourceQueuePairNumber(0)));
      } finally {
        completions.release();
        waiting.unlock();
      }
    }

    void close() {
      queue.channel().orElseThrow().close();
    }
  }

  /**
   * The queue pair.
   *
   * @return the identifier's
   */
  public QueuePair queuePair() {
    return queuePair;
  }

  /**
   * The domain, to register memory and to create address handles.
   *
   * @return the domain of the queue pair
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Allocates and registers memory to send from and to receive into: {@code rdma_reg_msgs}.
   *
   * @param bytes its length, at least 1
   * @return the region, of the domain
   * @throws IllegalArgumentException where the length is out of range
   * @throws IllegalStateException where this is closed
   * @throws RdmaException where it cannot be registered
   */
  public MemoryRegion registerMessages(long bytes) {
    return domain.register(bytes, AccessFlag.LOCAL_WRITE);
  }

  /**
   * Allocates and registers memory that the peer may read: {@code rdma_reg_read}.
   *
   * @param bytes its length, at least 1
   * @return the region, of the domain
   * @throws IllegalArgumentException where the length is out of range
   * @throws IllegalStateException where this is closed
   * @throws RdmaException where it cannot be registered
   */
  public MemoryRegion registerRead(long bytes) {
    return domain.register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
  }

  /**
   * Allocates and registers memory that the peer may write: {@code rdma_reg_write}.
   *
   * @param bytes its length, at least 1
   * @return the region, of the domain
   * @throws IllegalArgumentException where the length is out of range
   * @throws IllegalStateException where this is closed
   * @throws RdmaException where it cannot be registered
   */
  public MemoryRegion registerWrite(long bytes) {
    return domain.register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  }

  /**
   * Posts a receive: {@code rdma_post_recv}, {@code rdma_post_recvv}.
   *
   * @param id what its completion carries
   * @param pieces where to write the message, 0 to 4 parts of regions of the domain
   * @throws IllegalArgumentException where there are more pieces, or one is of another domain
   * @throws IllegalStateException where this is closed
   * @throws RdmaException where the queue is full
   */
  public void postReceive(long id, MemorySlice... pieces) {
    exclusively(
        () -> {
          receives.add(id);
          for (MemorySlice piece : pieces) {
            receives.into(piece);
          }
          receives.post();
        },
        receives::clear,
        receives::release);
  }

  /**
   * Posts a send: {@code rdma_post_send}, {@code rdma_post_sendv}, signaled.
   *
   * @param id what its completion carries
   * @param pieces what to send, 0 to 4 parts of regions of the domain
   * @throws IllegalArgumentException where there are more pieces, or one is of another domain
   * @throws IllegalStateException where this is closed or not connected
   * @throws RdmaException where the queue is full
   */
  public void postSend(long id, MemorySlice... pieces) {
    post(
        id,
        request -> {
          request.send();
          from(request, pieces);
        });
  }

  /**
   * Posts a read of the peer's memory: {@code rdma_post_read}, {@code rdma_post_readv}, signaled.
   *
   * @param id what its completion carries
   * @param remoteAddress the first byte there
   * @param remoteKey the key of the region there
   * @param pieces where to write what is read, 0 to 4 parts of regions of the domain
   * @throws IllegalArgumentException where there are more pieces, or one is of another domain
   * @throws IllegalStateException where this is closed or not connected
   * @throws RdmaException where the queue is full
   */
  public void postRead(long id, long remoteAddress, int remoteKey, MemorySlice... pieces) {
    post(
        id,
        request -> {
          request.read(remoteAddress, remoteKey);
          for (MemorySlice piece : pieces) {
            request.into(piece.region(), piece.offset(), piece.length());
          }
        });
  }

  /**
   * Posts a write to the peer's memory: {@code rdma_post_write}, {@code rdma_post_writev},
   * signaled.
   *
   * @param id what its completion carries
   * @param remoteAddress the first byte there
   * @param remoteKey the key of the region there
   * @param pieces what to write, 0 to 4 parts of regions of the domain
   * @throws IllegalArgumentException where there are more pieces, or one is of another domain
   * @throws IllegalStateException where this is closed or not connected
   * @throws RdmaException where the queue is full
   */
  public void postWrite(long id, long remoteAddress, int remoteKey, MemorySlice... pieces) {
    post(
        id,
        request -> {
          request.write(remoteAddress, remoteKey);
          from(request, pieces);
        });
  }

  /**
   * Posts a datagram with the queue key of the connection manager: {@code rdma_post_ud_send},
   * signaled.
   *
   * @param id what its completion carries
   * @param handle the way to the peer
   * @param queuePairNumber the number of the peer's queue pair
   * @param pieces what to send, 0 to 4 parts of regions of the domain
   * @throws IllegalArgumentException where there are more pieces, or one is of another domain
   * @throws IllegalStateException where this or the handle is closed
   * @throws RdmaException where the queue is full
   */
  public void postDatagram(
      long id, AddressHandle handle, int queuePairNumber, MemorySlice... pieces) {
    post(
        id,
        request -> {
          request.send().to(handle, queuePairNumber, UDP_QUEUE_KEY);
          from(request, pieces);
        });
  }

  private static void from(SendRequests request, MemorySlice... pieces) {
    for (MemorySlice piece : pieces) {
      request.from(piece);
    }
  }

  private void post(long id, Consumer<SendRequests> description) {
    exclusively(
        () -> {
          description.accept(sends.add(id).signaled());
          sends.post();
        },
        sends::clear,
        sends::release);
  }

  /** Room for requests belongs to one thread at a time, and is left empty. */
  private void exclusively(Runnable post, Runnable clear, Runnable release) {
    boolean posted = false;
    posting.lock();
    try {
      try {
        post.run();
        posted = true;
      } finally {
        if (!posted) {
          clear.run();
        }
        release.run();
      }
    } finally {
      posting.unlock();
    }
  }

  /**
   * Waits for a send, a read or a write to complete: {@code rdma_get_send_comp}.
   *
   * @param timeout how long to wait at most
   * @return the request; empty where none completed within that time
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where this is closed, also while waiting
   * @throws org.rdma4j.verbs.WorkCompletionException where the request failed
   * @throws RdmaException where the poll fails
   */
  public Optional<Completed> awaitSend(Duration timeout) throws InterruptedException {
    return sending.await(timeout);
  }

  /**
   * Waits for a receive to complete: {@code rdma_get_recv_comp}.
   *
   * @param timeout how long to wait at most
   * @return the request; empty where none completed within that time
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where this is closed, also while waiting
   * @throws org.rdma4j.verbs.WorkCompletionException where the request failed
   * @throws RdmaException where the poll fails
   */
  public Optional<Completed> awaitReceive(Duration timeout) throws InterruptedException {
    return receiving.await(timeout);
  }

  /**
   * Closes the queue pair, the completion queues, and the domain with its regions. Does nothing
   * where it is closed.
   *
   * @throws RdmaException where a destruction failed
   */
  @Override
  public void close() {
    sending.close();
    receiving.close();
    domain.close();
  }
}
