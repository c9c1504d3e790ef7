package org.rdma4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;

/**
 * Sends what was flushed at a channel, as messages. Used in the event loop, which also delivers
 * what has arrived at the peer.
 */
final class OutboundBytes {
  /**
   * A message of so many bytes is fetched by the peer by RDMA read. That costs a round trip, and
   * still carries much in less time than short messages do.
   */
  private static final int LONG_PIECE = 64 << 10;

  private final RdmaConnection connection;
  private final RdmaSocketChannelConfig config;
  private final int shortPiece;
  private final Runnable roomAgain;
  private final Runnable noMemory;
  private final OperationHandler arrived = this::arrived;
  private final Gathering gathering = new Gathering();

  /** The memory of the messages that had to wait and have not arrived yet, in bytes. */
  private long outstanding;

  private boolean full;

  /**
   * Creates the output of a connection.
   *
   * @param config limits how many bytes may be in flight
   * @param shortPiece the length of a buffer of the node
   * @param roomAgain is run when there is room, after there was none
   * @param noMemory is run if no memory can be registered now; {@link #retry} must follow
   */
  OutboundBytes(
      RdmaConnection connection,
      RdmaSocketChannelConfig config,
      int shortPiece,
      Runnable roomAgain,
      Runnable noMemory) {
    this.connection = connection;
    this.config = config;
    this.shortPiece = shortPiece;
    this.roomAgain = roomAgain;
    this.noMemory = noMemory;
  }

  /** Sends what was flushed, as far as there is room. */
  void write(ChannelOutboundBuffer flushed) throws IOException {
    while (true) {
      Object first = flushed.current();
      if (first == null) {
        return;
      }
      if (isEmpty(first)) {
        flushed.remove();
        continue;
      }
      if (outstanding >= config.getSendBufferSize()) {
        full = true;
        return;
      }
      try {
        if (first instanceof FileRegion region) {
          write(region, flushed);
        } else if (mayGiveUp(first)) {
          int length = ((ByteBuf) first).readableBytes();
          send(((MessageByteBuf) first).readableMessage());
          flushed.progress(length);
          flushed.remove();
        } else {
          flushed.removeBytes(sendCopy(flushed));
        }
      } catch (RdmaException failed) {
        if (failed instanceof ConnectionException || failed.errno() != ErrorNumber.ENOMEM.value()) {
          throw new IOException("Broken pipe", failed);
        }
        full = true;
        noMemory.run();
        return;
      } catch (IllegalStateException ended) {
        throw new IOException("Broken pipe", ended);
      }
    }
  }

  private static boolean isEmpty(Object message) {
    return message instanceof ByteBuf bytes
        ? !bytes.isReadable()
        : message instanceof FileRegion region && region.transferred() >= region.count();
  }

  /**
   * Returns whether a message can be sent where it is: it is registered for this connection, and no
   * other code holds it.
   */
  private boolean mayGiveUp(Object message) {
    return message instanceof MessageByteBuf bytes
        && bytes.refCnt() == 1
        && bytes.readableBytes() >= InboundBytes.SHORT
        && bytes.domain().equals(connection.domain());
  }

  /** Sends one message with a copy of the bytes of the next buffers; returns their number. */
  private int sendCopy(ChannelOutboundBuffer flushed) {
    int length = gather(flushed, LONG_PIECE, null);
    if (length < LONG_PIECE) {
      length = Math.min(length, shortPiece);
    }
    MessageBuffer message = connection.allocateBuffer(length);
    try {
      gather(flushed, length, message.byteBuffer());
      message.byteBuffer().flip();
      send(message);
    } finally {
      // Does nothing if it was sent.
      message.close();
    }
    return length;
  }

  /** Counts the bytes to be copied, up to a limit, and copies them if there is a target. */
  private int gather(ChannelOutboundBuffer flushed, int most, @Nullable ByteBuffer target) {
    gathering.begin(most, target);
    try {
      flushed.forEachFlushedMessage(gathering);
    } catch (RuntimeException failed) {
      throw failed;
    } catch (Exception impossible) {
      throw new AssertionError(impossible);
    } finally {
      gathering.target = null;
    }
    return gathering.count;
  }

  /** Goes through the buffers that are to be copied. Made once, so that a write allocates none. */
  private final class Gathering implements ChannelOutboundBuffer.MessageProcessor {
    private int most;
    private @Nullable ByteBuffer target;
    private int count;

    void begin(int limit, @Nullable ByteBuffer into) {
      most = limit;
      target = into;
      count = 0;
    }

    @Override
    public boolean processMessage(Object next) {
      if (!(next instanceof ByteBuf bytes) || mayGiveUp(next)) {
        return false;
      }
      int length = Math.min(bytes.readableBytes(), most - count);
      if (target != null) {
        target.limit(target.position() + length);
        bytes.getBytes(bytes.readerIndex(), target);
      }
      count += length;
      return count < most;
    }
  }

  /** Sends one message with the next bytes of a file. */
  private void write(FileRegion region, ChannelOutboundBuffer flushed) throws IOException {
    long left = region.count() - region.transferred();
    int length = left < LONG_PIECE ? (int) Math.min(left, shortPiece) : LONG_PIECE;
    MessageBuffer message = connection.allocateBuffer(length);
    try {
      ByteBuffer target = message.byteBuffer();
      region.transferTo(new Filling(target), region.transferred());
      if (target.position() == 0) {
        throw new IOException(
            "the file has ended %d bytes before the end of the region".formatted(left));
      }
      flushed.progress(target.position());
      target.flip();
      send(message);
    } finally {
      message.close();
    }
  }

  private void send(MessageBuffer message) {
    // A short message holds a whole buffer. What does not fit stays in Netty's buffers, and the
    // next write sends it as one message.
    long token = Math.max(message.length(), shortPiece);
    // A message that is sent immediately costs no completion; but it must not overtake a waiting
    // one.
    if (outstanding == 0 && connection.trySend(message)) {
      return;
    }
    connection.sendAsync(message, token, arrived);
    outstanding += token;
  }

  /** Ends the output: a message without bytes is its end to the peer's channel. */
  void end() {
    MessageBuffer message = connection.allocateBuffer(0);
    try {
      send(message);
      connection.endOutput();
    } finally {
      message.close();
    }
  }

  private void arrived(long token, @Nullable RuntimeException failure) {
    outstanding -= token;
    if (full && (failure != null || outstanding <= config.getSendBufferSize() / 2)) {
      full = false;
      roomAgain.run();
    }
  }

  /** Tries to send what waits, although nothing has arrived. */
  void retry() {
    if (full) {
      full = false;
      roomAgain.run();
    }
  }

  /** Returns whether what was flushed waits for room. */
  boolean isFull() {
    return full;
  }

  /** Fills a buffer with what is written. */
  private record Filling(ByteBuffer target) implements WritableByteChannel {
    @Override
    public int write(ByteBuffer source) {
      int length = Math.min(source.remaining(), target.remaining());
      target.put(target.position(), source, source.position(), length);
      target.position(target.position() + length);
      source.position(source.position() + length);
      return length;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
