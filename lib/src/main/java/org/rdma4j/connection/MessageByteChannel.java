package org.rdma4j.connection;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;

/** The bytes of the messages of a connection, without their boundaries. */
final class MessageByteChannel implements ByteChannel {
  /** Longer writes are sent as several messages. */
  private static final int MAX_WRITE = 1 << 18;

  private final RdmaConnection connection;
  private volatile boolean open = true;
  private @Nullable MessageBuffer current;
  private boolean ended;

  MessageByteChannel(RdmaConnection connection) {
    this.connection = connection;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    checkOpen();
    if (!target.hasRemaining()) {
      return 0;
    }
    ByteBuffer bytes = nextBytes();
    if (bytes == null) {
      return -1;
    }
    int length = Math.min(bytes.remaining(), target.remaining());
    target.put(bytes.slice().limit(length));
    bytes.position(bytes.position() + length);
    return length;
  }

  /** Returns the unread bytes of the current message, at least one; null at the end. */
  private @Nullable ByteBuffer nextBytes() throws IOException {
    while (!ended) {
      MessageBuffer message = current;
      if (message == null) {
        message = await();
        current = message;
        ended = message == null;
      } else if (message.byteBuffer().hasRemaining()) {
        return message.byteBuffer();
      } else {
        message.close();
        current = null;
      }
    }
    return null;
  }

  private @Nullable MessageBuffer await() throws IOException {
    try {
      return connection.receive().orElse(null);
    } catch (InterruptedException interrupted) {
      throw interrupted("read");
    } catch (IllegalStateException | RdmaException failed) {
      throw new IOException(failed.getMessage(), failed);
    }
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    checkOpen();
    int length = source.remaining();
    int max = (int) Math.min(MAX_WRITE, connection.maxMessageBytes());
    while (source.hasRemaining()) {
      ByteBuffer part = source.slice();
      part.limit(Math.min(part.limit(), max));
      send(part);
      source.position(source.position() + part.limit());
    }
    return length;
  }

  private void send(ByteBuffer part) throws IOException {
    try {
      connection.send(part);
    } catch (InterruptedException interrupted) {
      throw interrupted("write");
    } catch (IllegalStateException | RdmaException failed) {
      throw new IOException(failed.getMessage(), failed);
    }
  }

  private static IOException interrupted(String what) {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("the thread was interrupted during the " + what);
  }

  private void checkOpen() throws IOException {
    if (!open) {
      throw new ClosedChannelException();
    }
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  /** Gives back the message that was not read to its end. */
  void discard() {
    MessageBuffer message = current;
    current = null;
    ended = true;
    if (message != null) {
      message.close();
    }
  }

  @Override
  public void close() {
    open = false;
    discard();
    connection.close();
  }
}
