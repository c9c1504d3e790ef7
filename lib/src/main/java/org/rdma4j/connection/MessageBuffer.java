package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.verbs.MemorySlice;

/**
 * Registered memory of a connection that holds one message: one that {@link RdmaConnection#receive}
 * gave, or one to fill that {@link RdmaConnection#buffer} gave. There are only so many: each is to
 * be closed, or sent. A received one that is not keeps its sender waiting in the end.
 *
 * <p>It belongs to one thread at a time. What is done with its memory after it was closed or sent
 * garbles messages, and crashes nothing.
 */
public final class MessageBuffer implements AutoCloseable {
  private final RdmaConnection connection;
  private final int slot;
  private final MemorySlice memory;
  private final ByteBuffer bytes;
  private final AtomicBoolean held = new AtomicBoolean(true);

  MessageBuffer(RdmaConnection connection, int slot, MemorySlice memory, int length) {
    this.connection = connection;
    this.slot = slot;
    this.memory = memory;
    this.bytes = memory.byteBuffer().limit(length);
  }

  /**
   * The message: of a received one, from the position to the limit. Of one to send, what is to be
   * sent lies between both, as NIO channels have it: write, then flip.
   *
   * @return always the same object, in big-endian order at first
   * @throws IllegalStateException where it was closed or sent
   */
  public ByteBuffer byteBuffer() {
    checkHeld();
    return bytes;
  }

  /**
   * Its memory, from the position to the limit, for {@link RdmaConnection#read} and {@link
   * RdmaConnection#write} and for requests of one's own.
   *
   * @return the part of the region
   * @throws IllegalStateException where it was closed or sent, or the connection closed
   */
  public MemorySlice memory() {
    checkHeld();
    return memory.slice(bytes.position(), bytes.remaining());
  }

  private void checkHeld() {
    if (!held.get()) {
      throw new IllegalStateException("the buffer was closed or sent");
    }
  }

  /** Takes it away from the user; whether he had it. */
  boolean take() {
    return held.compareAndSet(true, false);
  }

  RdmaConnection connection() {
    return connection;
  }

  int slot() {
    return slot;
  }

  /**
   * Gives the memory back to the connection. Does nothing where it was closed or sent, or the
   * connection closed.
   */
  @Override
  public void close() {
    if (take()) {
      connection.giveBack(slot);
    }
  }
}
