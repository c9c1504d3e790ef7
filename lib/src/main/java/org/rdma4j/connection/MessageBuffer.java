package org.rdma4j.connection;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.verbs.MemorySlice;

/**
 * Registered memory that holds one message: received, or to be filled and sent. Each buffer must be
 * closed or sent. A message that has arrived occupies a place of its sender's until then.
 *
 * <p>A method that gives up a buffer, such as {@link RdmaConnection#send(MessageBuffer) send},
 * {@link RdmaConnection#request(MessageBuffer) request} or {@link
 * IncomingRequest#answer(MessageBuffer) answer}, does so only if it returns. If it throws, the
 * caller still holds the buffer.
 *
 * <p>After a buffer was closed or sent, its methods throw an exception. The node uses the memory
 * again, so a program must not use a view of it any more. A buffer that a program drops is closed
 * some time after that, with a warning in the log; but its memory is not used again if the program
 * had called {@link #segment} or {@link #memory}.
 *
 * <p>One thread at a time may use a buffer.
 */
public final class MessageBuffer implements AutoCloseable {
  private final Buffer buffer;
  private final @Nullable ByteBuffer bytes;

  /** Creates what a user holds during one use of a buffer. */
  MessageBuffer(Buffer buffer) {
    this.buffer = buffer;
    this.bytes =
        buffer.length() > Integer.MAX_VALUE
            ? null
            : buffer.bytes(Integer.MAX_VALUE).asByteBuffer().limit((int) buffer.length());
    buffer.holder().begin(user());
  }

  /** Returns what is reachable as long as this buffer is, or a view of its ByteBuffer. */
  private Object user() {
    return bytes == null ? this : bytes;
  }

  /**
   * Returns the message as a ByteBuffer, big-endian. Its position and its limit are those of the
   * message: set them to send a part of it. Each call returns the same object.
   *
   * @return the bytes of the message, or those to be filled
   * @throws IllegalStateException if the buffer was closed or sent
   * @throws UnsupportedOperationException if the message is longer than a ByteBuffer can be: use
   *     {@link #segment}
   */
  public ByteBuffer byteBuffer() {
    checkHeld();
    if (bytes == null) {
      throw new UnsupportedOperationException(
          "the message has "
              + buffer.length()
              + " bytes, more than a ByteBuffer can have: use segment() instead");
    }
    return bytes;
  }

  /**
   * Returns the message as a memory segment: the bytes from the position to the limit of {@link
   * #byteBuffer}.
   *
   * @return the memory
   * @throws IllegalStateException if the buffer was closed or sent
   */
  public MemorySegment segment() {
    checkHeld();
    buffer.holder().lend();
    return buffer.bytes().asSlice(position(), length());
  }

  /**
   * Returns the memory of the message, from the position to the limit, as the local memory of
   * operations on {@link PeerMemory} and of other work requests.
   *
   * @return the part of the memory region, for operations that begin before the buffer is closed or
   *     sent
   * @throws IllegalStateException if the buffer was closed or sent, or the node is closed
   */
  public MemorySlice memory() {
    checkHeld();
    buffer.holder().lend();
    return BufferRegion.slice(buffer, position(), length());
  }

  /**
   * Returns the length of the message.
   *
   * @return the number of bytes from the position to the limit
   */
  public long length() {
    return bytes == null ? buffer.length() : bytes.remaining();
  }

  private long position() {
    return bytes == null ? 0 : bytes.position();
  }

  /**
   * Returns the value that a peer has sent with {@link PeerMemory#writeAndNotify}. Such a message
   * has no bytes.
   *
   * @return the value; empty if this is another message
   * @throws IllegalStateException if the buffer was closed or sent
   */
  public OptionalLong notice() {
    checkHeld();
    return buffer.kind() == MessageKind.NOTICE
        ? OptionalLong.of(buffer.number())
        : OptionalLong.empty();
  }

  private void checkHeld() {
    if (!buffer.holder().isHeldBy(user())) {
      throw notHeld();
    }
  }

  private static IllegalStateException notHeld() {
    return new IllegalStateException(
        "the buffer was closed or sent; take another one from the connection");
  }

  /** Returns the memory, which the user goes on holding. */
  Buffer buffer() {
    return buffer;
  }

  /**
   * Takes the memory away from the user.
   *
   * @throws IllegalStateException if the user no longer holds it
   */
  Buffer take() {
    if (!buffer.holder().end(user())) {
      throw notHeld();
    }
    buffer.select(position(), length());
    return buffer;
  }

  /** Undoes {@link #take}. */
  void giveBackToUser() {
    buffer.holder().resume(user());
  }

  /**
   * Gives the memory back, and lets the sender of the message send another one. If operations on
   * the {@link #memory} are in progress, such as a read whose time is over, the node uses the
   * memory again only after the last one has ended. Does nothing if the buffer was closed or sent.
   */
  @Override
  public void close() {
    if (buffer.holder().end(user())) {
      buffer.free();
    }
  }
}
