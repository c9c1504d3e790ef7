package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.verbs.MemorySlice;

/**
 * Registered memory of a connection that holds one message: a received one, from {@link
 * RdmaConnection#receive}, or one to be filled and sent, from {@link RdmaConnection#buffer}. The
 * number of buffers is limited, so close or send each of them. While a received buffer is held, the
 * peer can send one message less.
 *
 * <p>A buffer belongs to one thread at a time. Accessing its memory after it was closed or sent
 * corrupts messages, but cannot crash the JVM.
 */
public final class MessageBuffer implements AutoCloseable {
  private final Messages owner;
  private final int slot;
  private final MemorySlice memory;
  private final ByteBuffer bytes;
  private final AtomicBoolean held = new AtomicBoolean(true);

  MessageBuffer(Messages owner, int slot, MemorySlice memory, int length) {
    this.owner = owner;
    this.slot = slot;
    this.memory = memory;
    this.bytes = memory.byteBuffer().limit(length);
  }

  /**
   * Returns the message. A received message lies between the position and the limit. A message to
   * be sent is what lies between them when it is sent, as with NIO channels: write, then flip.
   *
   * @return the bytes, always the same object, in big-endian order at first
   * @throws IllegalStateException if the buffer was closed or sent
   */
  public ByteBuffer byteBuffer() {
    checkHeld();
    return bytes;
  }

  /**
   * Returns the memory of the message, from the position to the limit, to be used in {@link
   * RdmaConnection#read}, {@link RdmaConnection#write} or other work requests.
   *
   * @return the part of the memory region
   * @throws IllegalStateException if the buffer was closed or sent, or the connection is closed
   */
  public MemorySlice memory() {
    checkHeld();
    return memory.slice(bytes.position(), bytes.remaining());
  }

  private void checkHeld() {
    if (!held.get()) {
      throw notHeld();
    }
  }

  static IllegalStateException notHeld() {
    return new IllegalStateException(
        "the buffer was closed or sent; take another one from the connection");
  }

  /** Takes the buffer away from the user, and returns whether the user still held it. */
  boolean take() {
    return held.compareAndSet(true, false);
  }

  Messages owner() {
    return owner;
  }

  int slot() {
    return slot;
  }

  /**
   * Gives the memory back to the connection. Does nothing if the buffer was closed or sent, or the
   * connection is closed.
   */
  @Override
  public void close() {
    if (take()) {
      owner.giveBack(slot);
    }
  }
}
