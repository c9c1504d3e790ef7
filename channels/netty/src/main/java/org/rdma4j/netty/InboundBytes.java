package org.rdma4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.verbs.ProtectionDomain;

/**
 * What has arrived at a channel and was not read. Messages that wait here occupy places of the
 * peer's, so there are at most {@link org.rdma4j.connection.NodeConfig#receives}, and a peer whose
 * channel is not read has to stop.
 *
 * <p>Used in the event loop.
 */
final class InboundBytes {
  /** What is shorter than this is copied: that costs less than to keep a whole buffer for it. */
  static final int SHORT = 1024;

  private final RdmaIoHandler handler;
  private final ProtectionDomain domain;
  private final KeptBuffers kept;
  private final Queue<MessageBuffer> messages = new ArrayDeque<>();
  private boolean ended;
  private boolean dropping;
  private boolean over;
  private @Nullable Throwable failure;

  InboundBytes(RdmaIoHandler handler, ProtectionDomain domain) {
    this.handler = handler;
    this.domain = domain;
    // With the other half, the peer can go on whatever users keep.
    this.kept = new KeptBuffers(handler.node().node().config().receives() / 2);
  }

  /** Takes a message. One without bytes is the end of the peer's output; a notice has none too. */
  void add(MessageBuffer message) {
    if (dropping || message.notice().isPresent()) {
      message.close();
    } else if (message.length() == 0) {
      message.close();
      ended = true;
    } else {
      messages.add(message);
    }
  }

  /** Records that the connection has ended after all messages, for a reason if it broke. */
  void end(@Nullable Throwable reason) {
    over = true;
    failure = reason;
  }

  boolean isEmpty() {
    return messages.isEmpty();
  }

  /** Returns whether no message comes any more after the messages that are here. */
  boolean isEnded() {
    return ended || over;
  }

  /** Returns why the connection broke; null if it did not. */
  @Nullable Throwable failure() {
    return failure;
  }

  /**
   * Takes the next bytes. Those of a message stay where they arrived, unless they are few or users
   * keep many buffers: then this returns a copy, of several messages if they fit.
   */
  ByteBuf take(ByteBufAllocator allocator, RecvByteBufAllocator.Handle allocation) {
    MessageBuffer first = messages.element();
    ByteBuffer bytes = first.byteBuffer();
    int length = bytes.remaining();
    boolean isWhole = bytes.position() == 0;
    if (isWhole && length >= SHORT && tryKeep()) {
      messages.remove();
      allocation.attemptedBytesRead(length);
      return new MessageByteBuf(allocator, first, domain, this::released).writerIndex(length);
    }
    ByteBuf target = allocation.allocate(allocator);
    allocation.attemptedBytesRead(target.writableBytes());
    MessageBuffer next = first;
    do {
      copy(next, target);
      next = messages.peek();
    } while (next != null && target.isWritable() && next.length() < SHORT);
    return target;
  }

  /** Moves bytes of the first message, and closes it if that were its last. */
  private void copy(MessageBuffer message, ByteBuf target) {
    ByteBuffer bytes = message.byteBuffer();
    int end = bytes.limit();
    bytes.limit(bytes.position() + Math.min(bytes.remaining(), target.writableBytes()));
    target.writeBytes(bytes);
    bytes.limit(end);
    if (!bytes.hasRemaining()) {
      messages.remove().close();
    }
  }

  private boolean tryKeep() {
    if (!kept.tryAdd()) {
      return false;
    }
    if (!handler.kept().tryAdd()) {
      kept.remove();
      return false;
    }
    return true;
  }

  private void released() {
    kept.remove();
    handler.kept().remove();
  }

  /** Drops what has arrived and what arrives. */
  void drop() {
    dropping = true;
    ended = true;
    messages.forEach(MessageBuffer::close);
    messages.clear();
  }
}
