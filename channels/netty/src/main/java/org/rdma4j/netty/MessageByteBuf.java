package org.rdma4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.verbs.ProtectionDomain;

/** The registered memory of a message: received, or to be filled and written. */
final class MessageByteBuf extends UnpooledDirectByteBuf {
  private static final ResourceLeakDetector<ByteBuf> LEAKS =
      ResourceLeakDetectorFactory.instance().newResourceLeakDetector(ByteBuf.class);

  private final MessageBuffer message;
  private final ProtectionDomain domain;
  private final Runnable released;
  private final @Nullable ResourceLeakTracker<ByteBuf> leak;

  /**
   * Creates a buffer that has no bytes to read yet.
   *
   * @param message the message, which this closes when it is released
   * @param domain the domain in which it is registered
   * @param released is run then, by any thread
   */
  MessageByteBuf(
      ByteBufAllocator allocator,
      MessageBuffer message,
      ProtectionDomain domain,
      Runnable released) {
    super(allocator, message.byteBuffer(), message.byteBuffer().remaining());
    this.message = message;
    this.domain = domain;
    this.released = released;
    this.leak = LEAKS.track(this);
    setIndex(0, 0);
  }

  ProtectionDomain domain() {
    return domain;
  }

  /** Returns the message with the bytes that are readable, to be sent. */
  MessageBuffer readableMessage() {
    message.byteBuffer().limit(writerIndex()).position(readerIndex());
    return message;
  }

  @Override
  public ByteBuf capacity(int newCapacity) {
    if (newCapacity > capacity()) {
      throw new IllegalArgumentException(
          "newCapacity is %d, must be at most %d: registered memory does not grow"
              .formatted(newCapacity, capacity()));
    }
    trimIndicesToCapacity(newCapacity);
    return this;
  }

  @Override
  public ByteBuf touch(Object hint) {
    if (leak != null) {
      leak.record(hint);
    }
    return this;
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    if (leak != null) {
      leak.close(this);
    }
    message.close();
    released.run();
  }
}
