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
 * Messages, reads and writes over an identifier in a few lines of code: the functions of
 * rdma_verbs.h. Requests are posted one at a time, and completions are awaited one at a time. A
 * request has up to 4 pieces (scatter/gather elements): slices of memory regions. {@link
 * SendRequests} and {@link Completions} of a queue pair do the same in batches, and faster.
 *
 * <p>{@link #create} creates the identifier's queue pair together with all that it needs: a
 * protection domain, and for each direction a completion queue with a completion channel. In C,
 * {@code rdma_create_qp} does so if it is given no protection domain.
 *
 * <p>All methods may be called from any thread. Posts are made one after the other, and the threads
 * that wait for completions of one direction take turns.
 *
 * @see SynchronousCmId
 * @see org.rdma4j.verbs.SendRequests
 */
public final class SimpleMessages implements AutoCloseable {
  /** The queue key of the connection manager's datagrams: {@code RDMA_UDP_QKEY}. */
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
   * Creates the queue pair of an identifier and all that it needs.
   *
   * @param id the identifier, which must be bound to a device
   * @param sendDepth the maximum number of outstanding sends, reads and writes, at least 1
   * @param receiveDepth the maximum number of outstanding receives, at least 1
   * @return the object, which also closes the queue pair when it is closed
   * @throws IllegalArgumentException if a depth is more than the device offers
   * @throws IllegalStateException if the identifier is closed, has no device yet, or already has a
   *     queue pair
   * @throws RdmaException if something cannot be created
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
              .sendSges(MAX_PIECES)
              .receiveSges(MAX_PIECES);
      return new SimpleMessages(domain, sending, receiving, id.createQueuePair(domain, config));
    } catch (RuntimeException failed) {
      undo.forEach(Runnable::run);
      throw failed;
    }
  }

  /**
   * A request that has completed successfully.
   *
   * @param id the id with which it was posted
   * @param opcode what the request did
   * @param bytes how many bytes a receive or a read has transferred; for datagrams, this includes
   *     the 40 bytes of the header
   * @param immediate the immediate value that arrived; 0 if there was none
   * @param sourceQueuePairNumber the number of the queue pair that sent a datagram
   */
  public record Completed(
      long id, CompletionOpcode opcode, long bytes, int immediate, int sourceQueuePairNumber) {}

  /** The completions of one direction, sending or receiving. */
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
   * Returns the queue pair.
   *
   * @return the queue pair of the identifier
   */
  public QueuePair queuePair() {
    return queuePair;
  }

  /**
   * Returns the protection domain, to register memory and to create address handles.
   *
   * @return the domain of the queue pair
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Allocates and registers memory to send from and to receive into: {@code rdma_reg_msgs}.
   *
   * @param bytes the length, at least 1
   * @return the region, in the domain
   * @throws IllegalArgumentException if the length is out of range
   * @throws RdmaException if the memory cannot be registered
   */
  public MemoryRegion registerMessages(long bytes) {
    return domain.register(bytes, AccessFlag.LOCAL_WRITE);
  }

  /**
   * Allocates and registers memory that the peer may read: {@code rdma_reg_read}.
   *
   * @param bytes the length, at least 1
   * @return the region, in the domain
   * @throws IllegalArgumentException if the length is out of range
   * @throws RdmaException if the memory cannot be registered
   */
  public MemoryRegion registerRead(long bytes) {
    return domain.register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
  }

  /**
   * Allocates and registers memory that the peer may write: {@code rdma_reg_write}.
   *
   * @param bytes the length, at least 1
   * @return the region, in the domain
   * @throws IllegalArgumentException if the length is out of range
   * @throws RdmaException if the memory cannot be registered
   */
  public MemoryRegion registerWrite(long bytes) {
    return domain.register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  }

  /**
   * Posts a receive: {@code rdma_post_recv}, {@code rdma_post_recvv}.
   *
   * @param id the id that its completion has
   * @param pieces the memory that receives the message, 0 to 4 slices of regions in the domain
   * @throws IllegalArgumentException if there are more pieces, or one is in another domain
   * @throws RdmaException if the queue is full
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
   * Posts a send: {@code rdma_post_send}, {@code rdma_post_sendv}. It is signaled.
   *
   * @param id the id that its completion has
   * @param pieces the memory to send, 0 to 4 slices of regions in the domain
   * @throws IllegalArgumentException if there are more pieces, or one is in another domain
   * @throws IllegalStateException if this object is closed or not connected
   * @throws RdmaException if the queue is full
   */
  public void postSend(long id, MemorySlice... pieces) {
    postSignaled(
        id,
        request -> {
          request.send();
          from(request, pieces);
        });
  }

  /**
   * Posts a read of the peer's memory: {@code rdma_post_read}, {@code rdma_post_readv}. It is
   * signaled.
   *
   * @param id the id that its completion has
   * @param remoteAddress the address of the first byte in the peer's memory
   * @param remoteKey the remote key of the peer's memory region
   * @param pieces the memory that receives the data, 0 to 4 slices of regions in the domain
   * @throws IllegalArgumentException if there are more pieces, or one is in another domain
   * @throws IllegalStateException if this object is closed or not connected
   * @throws RdmaException if the queue is full
   */
  public void postRead(long id, long remoteAddress, int remoteKey, MemorySlice... pieces) {
    postSignaled(
        id,
        request -> {
          request.read(remoteAddress, remoteKey);
          for (MemorySlice piece : pieces) {
            request.into(piece.region(), piece.offset(), piece.length());
          }
        });
  }

  /**
   * Posts a write to the peer's memory: {@code rdma_post_write}, {@code rdma_post_writev}. It is
   * signaled.
   *
   * @param id the id that its completion has
   * @param remoteAddress the address of the first byte in the peer's memory
   * @param remoteKey the remote key of the peer's memory region
   * @param pieces the memory to write from, 0 to 4 slices of regions in the domain
   * @throws IllegalArgumentException if there are more pieces, or one is in another domain
   * @throws IllegalStateException if this object is closed or not connected
   * @throws RdmaException if the queue is full
   */
  public void postWrite(long id, long remoteAddress, int remoteKey, MemorySlice... pieces) {
    postSignaled(
        id,
        request -> {
          request.write(remoteAddress, remoteKey);
          from(request, pieces);
        });
  }

  /**
   * Posts a datagram with the queue key of the connection manager: {@code rdma_post_ud_send}. It is
   * signaled.
   *
   * @param id the id that its completion has
   * @param handle the address handle of the peer
   * @param queuePairNumber the number of the peer's queue pair
   * @param pieces the memory to send, 0 to 4 slices of regions in the domain
   * @throws IllegalArgumentException if there are more pieces, or one is in another domain
   * @throws RdmaException if the queue is full
   */
  public void postDatagram(
      long id, AddressHandle handle, int queuePairNumber, MemorySlice... pieces) {
    postSignaled(
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

  /**
   * Posts any request, with any flags: the functions of {@code rdma_verbs.h} take them as their
   * parameter {@code flags}. Unlike the other methods, this signals the request only if the
   * description does.
   *
   * {@snippet :
   * messages.post(1, request -> request.write(address, key).from(slice).fenced().signaled());
   * }
   *
   * @param id the id that its completion has
   * @param description describes the request, which is an empty SEND at first
   * @throws IllegalArgumentException if the description is wrong, or a piece is in another domain
   * @throws IllegalStateException if this object is closed or not connected
   * @throws RdmaException if the queue is full
   */
  public void post(long id, Consumer<SendRequests> description) {
    exclusively(
        () -> {
          description.accept(sends.add(id));
          sends.post();
        },
        sends::clear,
        sends::release);
  }

  private void postSignaled(long id, Consumer<SendRequests> description) {
    post(
        id,
        request -> {
          description.accept(request.signaled());
        });
  }

  /** A batch of requests belongs to one thread at a time, which leaves it empty. */
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
   * @param timeout the maximum time to wait
   * @return the request; empty if none completed in time
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if this object is closed, also while waiting
   * @throws org.rdma4j.verbs.WorkCompletionException if the request failed
   * @throws RdmaException if the poll fails
   */
  public Optional<Completed> awaitSend(Duration timeout) throws InterruptedException {
    return sending.await(timeout);
  }

  /**
   * Waits for a receive to complete: {@code rdma_get_recv_comp}.
   *
   * @param timeout the maximum time to wait
   * @return the request; empty if none completed in time
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if this object is closed, also while waiting
   * @throws org.rdma4j.verbs.WorkCompletionException if the request failed
   * @throws RdmaException if the poll fails
   */
  public Optional<Completed> awaitReceive(Duration timeout) throws InterruptedException {
    return receiving.await(timeout);
  }

  /**
   * Closes the queue pair, the completion queues, and the domain with its regions. Does nothing if
   * this object is closed.
   *
   * @throws RdmaException if a destruction failed
   */
  @Override
  public void close() {
    sending.close();
    receiving.close();
    domain.close();
  }
}
