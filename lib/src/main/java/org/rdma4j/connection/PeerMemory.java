package org.rdma4j.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.rdma4j.ConnectionException;
import org.rdma4j.connection.session.Request;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * Reads, writes and atomic operations on memory of the peer of a connection, without the peer
 * taking part. {@link RdmaConnection#memory} returns it.
 *
 * <p>Each operation has three forms. One waits until it is done. One returns a future. One takes a
 * token and an {@link OperationHandler}, which is called with the token when the operation is done:
 * it allocates nothing. The last two never wait.
 *
 * <p>The local memory of an operation is a part of a region of {@link RdmaConnection#domain}, or a
 * {@link MessageBuffer#memory}. It must not be used otherwise until the operation is done. An
 * operation goes on, and the device may write to the local memory of a read, also if the method
 * that waits for it has thrown InterruptedException or TimeoutException. A {@link MessageBuffer}
 * may be closed and a {@link org.rdma4j.memory.Slab} released before that: their memory is used
 * again only after the operation has ended. A region may not: its operations fail, and the
 * connection breaks.
 *
 * <p>If the peer's device refuses an operation, because the memory there does not have the access
 * flag that it needs, or was closed, the operation fails with a {@link WorkCompletionException},
 * and the connection breaks. {@link #writeAndNotify} then fails with a {@link ConnectionException}
 * that has this exception as its cause.
 *
 * <p>Operations of one connection begin in the order of the calls, but an operation may begin
 * before an earlier read or atomic operation is done. All methods may be called from any thread;
 * methods that wait throw IllegalStateException in a handler.
 */
public final class PeerMemory {
  private final Link link;

  PeerMemory(Link link) {
    this.link = link;
  }

  // ---- Reads

  /**
   * Reads memory of the peer, and waits until the data is here.
   *
   * @param from the memory of the peer, at least as long as the local memory
   * @param to the memory to write the data to, with LOCAL_WRITE
   * @param timeout the time for the read
   * @throws InterruptedException if the thread is interrupted while it waits; the read goes on
   * @throws TimeoutException if the read does not complete in time; the read goes on
   * @throws IllegalArgumentException if the timeout is negative, the peer's memory is shorter than
   *     the local memory, or the local memory is of another domain or without LOCAL_WRITE
   * @throws WorkCompletionException if the peer's device refuses the read
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void read(RemoteMemory from, MemorySlice to, Duration timeout)
      throws InterruptedException, TimeoutException {
    link.operations().operateAndWait(newRead(from, to), timeout);
  }

  /**
   * Reads memory of the peer.
   *
   * @param from the memory of the peer, at least as long as the local memory
   * @param to the memory to write the data to, with LOCAL_WRITE
   * @return a future that completes when the data is here; exceptionally with a {@link
   *     WorkCompletionException} if the peer's device refuses the read
   * @throws IllegalArgumentException if the peer's memory is shorter than the local memory, or the
   *     local memory is of another domain or without LOCAL_WRITE
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> readAsync(RemoteMemory from, MemorySlice to) {
    return withFuture(newRead(from, to));
  }

  /**
   * Reads memory of the peer, and calls a handler when that is done.
   *
   * @param from the memory of the peer, at least as long as the local memory
   * @param to the memory to write the data to, with LOCAL_WRITE
   * @param token what the handler is called with
   * @param handler the handler
   * @throws IllegalArgumentException if the peer's memory is shorter than the local memory, or the
   *     local memory is of another domain or without LOCAL_WRITE
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void readAsync(RemoteMemory from, MemorySlice to, long token, OperationHandler handler) {
    Objects.requireNonNull(handler, "handler");
    withHandler(newRead(from, to), token, handler);
  }

  // ---- Writes

  /**
   * Writes to memory of the peer, and waits until the data is there.
   *
   * @param from the data to write
   * @param to the memory of the peer, at least as long as the local memory
   * @param timeout the time for the write
   * @throws InterruptedException if the thread is interrupted while it waits; the write goes on
   * @throws TimeoutException if the write does not complete in time; the write goes on
   * @throws IllegalArgumentException if the timeout is negative, the peer's memory is shorter than
   *     the local memory, or the local memory is of another domain
   * @throws WorkCompletionException if the peer's device refuses the write
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void write(MemorySlice from, RemoteMemory to, Duration timeout)
      throws InterruptedException, TimeoutException {
    link.operations().operateAndWait(newWrite(from, to), timeout);
  }

  /**
   * Writes to memory of the peer.
   *
   * @param from the data to write
   * @param to the memory of the peer, at least as long as the local memory
   * @return a future that completes when the data is there; exceptionally with a {@link
   *     WorkCompletionException} if the peer's device refuses the write
   * @throws IllegalArgumentException if the peer's memory is shorter than the local memory, or the
   *     local memory is of another domain
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> writeAsync(MemorySlice from, RemoteMemory to) {
    return withFuture(newWrite(from, to));
  }

  /**
   * Writes to memory of the peer, and calls a handler when that is done.
   *
   * @param from the data to write
   * @param to the memory of the peer, at least as long as the local memory
   * @param token what the handler is called with
   * @param handler the handler
   * @throws IllegalArgumentException if the peer's memory is shorter than the local memory, or the
   *     local memory is of another domain
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void writeAsync(MemorySlice from, RemoteMemory to, long token, OperationHandler handler) {
    Objects.requireNonNull(handler, "handler");
    withHandler(newWrite(from, to), token, handler);
  }

  // ---- Writes with a notice

  /**
   * Writes to memory of the peer, then sends the peer a notice, and waits until both have arrived.
   *
   * <p>The peer receives the notice as a message without bytes that has this value as its {@link
   * MessageBuffer#notice}, or with the second handler of {@link RdmaConnection#onMessageBytes}. The
   * data is there before the notice. Like any message, the notice waits until the peer has room for
   * it. On the wire, these are a write and a send, because iWARP has no write with an immediate
   * value.
   *
   * @param from the data to write
   * @param to the memory of the peer, at least as long as the local memory
   * @param notice the value for the peer
   * @param timeout the time for both
   * @throws InterruptedException if the thread is interrupted while it waits; what has begun goes
   *     on
   * @throws TimeoutException if the peer has no room for the notice in time: nothing was written
   *     then; or if both have not arrived in time: they go on
   * @throws IllegalArgumentException if the timeout is negative, the peer's memory is shorter than
   *     the local memory, or the local memory is of another domain
   * @throws IllegalStateException if the connection or the region is closed, or this side has ended
   *     its output
   * @throws ConnectionException if the peer's device refuses the write, the connection is broken,
   *     or the peer has closed it
   */
  public void writeAndNotify(MemorySlice from, RemoteMemory to, long notice, Duration timeout)
      throws InterruptedException, TimeoutException {
    link.operations().operateAndWait(newWriteWithNotice(from, to, notice), timeout);
  }

  /**
   * Writes to memory of the peer, then sends the peer a notice, as {@link
   * #writeAndNotify(MemorySlice, RemoteMemory, long, Duration)} does.
   *
   * @param from the data to write
   * @param to the memory of the peer, at least as long as the local memory
   * @param notice the value for the peer
   * @return a future that completes when both have arrived, and exceptionally if they cannot
   * @throws IllegalArgumentException if the peer's memory is shorter than the local memory, or the
   *     local memory is of another domain
   * @throws IllegalStateException if the connection or the region is closed, or this side has ended
   *     its output
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> writeAndNotifyAsync(
      MemorySlice from, RemoteMemory to, long notice) {
    return withFuture(newWriteWithNotice(from, to, notice));
  }

  /**
   * Writes to memory of the peer, then sends the peer a notice, as {@link
   * #writeAndNotify(MemorySlice, RemoteMemory, long, Duration)} does, and calls a handler when both
   * have arrived.
   *
   * @param from the data to write
   * @param to the memory of the peer, at least as long as the local memory
   * @param notice the value for the peer
   * @param token what the handler is called with
   * @param handler the handler
   * @throws IllegalArgumentException if the peer's memory is shorter than the local memory, or the
   *     local memory is of another domain
   * @throws IllegalStateException if the connection or the region is closed, or this side has ended
   *     its output
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void writeAndNotifyAsync(
      MemorySlice from, RemoteMemory to, long notice, long token, OperationHandler handler) {
    Objects.requireNonNull(handler, "handler");
    withHandler(newWriteWithNotice(from, to, notice), token, handler);
  }

  // ---- Atomic operations

  /**
   * Compares 8 bytes of the peer's memory with a value, and replaces them with another one if they
   * are equal, atomically. Waits until the value from before is here.
   *
   * @param at the memory of the peer, 8 bytes at a multiple of 8, with REMOTE_ATOMIC
   * @param expected the value to compare with
   * @param replacement the value to replace it with
   * @param result where the device stores the value from before: 8 bytes with LOCAL_WRITE, in
   *     native byte order
   * @param timeout the time for the operation
   * @return the value from before, which is {@code expected} if it was replaced
   * @throws InterruptedException if the thread is interrupted while it waits; the operation goes on
   * @throws TimeoutException if the operation does not complete in time; it goes on
   * @throws IllegalArgumentException if the timeout is negative, one of the two does not have 8
   *     bytes, the remote address is not a multiple of 8, or the local memory is of another domain
   *     or without LOCAL_WRITE
   * @throws WorkCompletionException if the peer's device refuses the operation
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no atomic operations
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public long compareAndSwap(
      RemoteMemory at, long expected, long replacement, MemorySlice result, Duration timeout)
      throws InterruptedException, TimeoutException {
    return valueAfter(newCompareAndSwap(at, expected, replacement, result), result, timeout);
  }

  /**
   * Compares 8 bytes of the peer's memory with a value, and replaces them with another one if they
   * are equal, atomically.
   *
   * @param at the memory of the peer, 8 bytes at a multiple of 8, with REMOTE_ATOMIC
   * @param expected the value to compare with
   * @param replacement the value to replace it with
   * @param result where the device stores the value from before: 8 bytes with LOCAL_WRITE, in
   *     native byte order
   * @return a future that completes when the result is stored; exceptionally with a {@link
   *     WorkCompletionException} if the peer's device refuses the operation
   * @throws IllegalArgumentException if one of the two does not have 8 bytes, the remote address is
   *     not a multiple of 8, or the local memory is of another domain or without LOCAL_WRITE
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no atomic operations
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> compareAndSwapAsync(
      RemoteMemory at, long expected, long replacement, MemorySlice result) {
    return withFuture(newCompareAndSwap(at, expected, replacement, result));
  }

  /**
   * Compares 8 bytes of the peer's memory with a value, and replaces them with another one if they
   * are equal, atomically. Calls a handler when the value from before is here.
   *
   * @param at the memory of the peer, 8 bytes at a multiple of 8, with REMOTE_ATOMIC
   * @param expected the value to compare with
   * @param replacement the value to replace it with
   * @param result where the device stores the value from before: 8 bytes with LOCAL_WRITE, in
   *     native byte order
   * @param token what the handler is called with
   * @param handler the handler
   * @throws IllegalArgumentException if one of the two does not have 8 bytes, the remote address is
   *     not a multiple of 8, or the local memory is of another domain or without LOCAL_WRITE
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no atomic operations
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void compareAndSwapAsync(
      RemoteMemory at,
      long expected,
      long replacement,
      MemorySlice result,
      long token,
      OperationHandler handler) {
    Objects.requireNonNull(handler, "handler");
    withHandler(newCompareAndSwap(at, expected, replacement, result), token, handler);
  }

  /**
   * Adds to 8 bytes of the peer's memory, atomically, and waits until the value from before is
   * here.
   *
   * @param at the memory of the peer, 8 bytes at a multiple of 8, with REMOTE_ATOMIC
   * @param addend the number to add
   * @param result where the device stores the value from before: 8 bytes with LOCAL_WRITE, in
   *     native byte order
   * @param timeout the time for the operation
   * @return the value from before
   * @throws InterruptedException if the thread is interrupted while it waits; the operation goes on
   * @throws TimeoutException if the operation does not complete in time; it goes on
   * @throws IllegalArgumentException if the timeout is negative, one of the two does not have 8
   *     bytes, the remote address is not a multiple of 8, or the local memory is of another domain
   *     or without LOCAL_WRITE
   * @throws WorkCompletionException if the peer's device refuses the operation
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no atomic operations
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public long fetchAndAdd(RemoteMemory at, long addend, MemorySlice result, Duration timeout)
      throws InterruptedException, TimeoutException {
    return valueAfter(newFetchAndAdd(at, addend, result), result, timeout);
  }

  /**
   * Adds to 8 bytes of the peer's memory, atomically.
   *
   * @param at the memory of the peer, 8 bytes at a multiple of 8, with REMOTE_ATOMIC
   * @param addend the number to add
   * @param result where the device stores the value from before: 8 bytes with LOCAL_WRITE, in
   *     native byte order
   * @return a future that completes when the result is stored; exceptionally with a {@link
   *     WorkCompletionException} if the peer's device refuses the operation
   * @throws IllegalArgumentException if one of the two does not have 8 bytes, the remote address is
   *     not a multiple of 8, or the local memory is of another domain or without LOCAL_WRITE
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no atomic operations
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> fetchAndAddAsync(
      RemoteMemory at, long addend, MemorySlice result) {
    return withFuture(newFetchAndAdd(at, addend, result));
  }

  /**
   * Adds to 8 bytes of the peer's memory, atomically, and calls a handler when the value from
   * before is here.
   *
   * @param at the memory of the peer, 8 bytes at a multiple of 8, with REMOTE_ATOMIC
   * @param addend the number to add
   * @param result where the device stores the value from before: 8 bytes with LOCAL_WRITE, in
   *     native byte order
   * @param token what the handler is called with
   * @param handler the handler
   * @throws IllegalArgumentException if one of the two does not have 8 bytes, the remote address is
   *     not a multiple of 8, or the local memory is of another domain or without LOCAL_WRITE
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no atomic operations
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void fetchAndAddAsync(
      RemoteMemory at, long addend, MemorySlice result, long token, OperationHandler handler) {
    Objects.requireNonNull(handler, "handler");
    withHandler(newFetchAndAdd(at, addend, result), token, handler);
  }

  private long valueAfter(Request atomic, MemorySlice result, Duration timeout)
      throws InterruptedException, TimeoutException {
    MemorySegment stored = result.segment();
    link.operations().operateAndWait(atomic, timeout);
    return stored.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
  }

  private Request newRead(RemoteMemory from, MemorySlice to) {
    link.operations().checkLocal(to, AccessFlag.LOCAL_WRITE, "to be read into");
    return newOperation(Request.Operation.READ, from, to);
  }

  private Request newWrite(MemorySlice from, RemoteMemory to) {
    link.operations().checkDomain(from);
    return newOperation(Request.Operation.WRITE, to, from);
  }

  private Request newWriteWithNotice(MemorySlice from, RemoteMemory to, long notice) {
    return link.operations().newNotice(newWrite(from, to), notice);
  }

  private Request newCompareAndSwap(
      RemoteMemory at, long expected, long replacement, MemorySlice result) {
    Request request = newAtomic(Request.Operation.COMPARE_AND_SWAP, at, result);
    request.operands(expected, replacement);
    return request;
  }

  private Request newFetchAndAdd(RemoteMemory at, long addend, MemorySlice result) {
    Request request = newAtomic(Request.Operation.FETCH_AND_ADD, at, result);
    request.operands(addend, 0);
    return request;
  }

  private Request newAtomic(Request.Operation operation, RemoteMemory remote, MemorySlice result) {
    link.operations().checkLocal(result, AccessFlag.LOCAL_WRITE, "to store the result");
    if (remote.length() != Long.BYTES || result.length() != Long.BYTES) {
      throw new IllegalArgumentException(
          "the remote memory has %d bytes and the local memory %d, both must have 8"
              .formatted(remote.length(), result.length()));
    }
    if (remote.address() % Long.BYTES != 0) {
      throw new IllegalArgumentException(
          "the remote address is 0x%x, must be a multiple of 8".formatted(remote.address()));
    }
    link.share().checkAtomics();
    return newOperation(operation, remote, result);
  }

  private Request newOperation(
      Request.Operation operation, RemoteMemory remote, MemorySlice local) {
    if (local.length() > remote.length()) {
      throw new IllegalArgumentException(
          "length is %d, must be at most %d, the length of the peer's memory"
              .formatted(local.length(), remote.length()));
    }
    if (local.length() > Request.MAX_TRANSFER) {
      throw new IllegalArgumentException(
          "length is %d, must be at most %d: use several operations"
              .formatted(local.length(), Request.MAX_TRANSFER));
    }
    Request request = link.operations().newRequest();
    request.operate(operation, local, local.length(), remote.address(), remote.key());
    return request;
  }

  private CompletableFuture<Void> withFuture(Request request) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    request.tell(done, 0);
    link.operations().operate(request);
    return done;
  }

  private void withHandler(Request request, long token, OperationHandler handler) {
    request.tell(handler, token);
    link.operations().operate(request);
  }
}
