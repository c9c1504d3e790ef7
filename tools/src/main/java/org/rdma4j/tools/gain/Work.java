package org.rdma4j.tools.gain;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** What the server does with a connection: the first bytes of the client name it. */
enum Work {
  /** Sends each message back. */
  ECHO('e'),
  /** Reads until the end of the stream, and then sends how many bytes that were. */
  STREAM('s'),
  /** Sends the processor time that the server has taken so far, in nanoseconds. */
  CPU_TIME('c');

  /** Each side sends so many bytes before it works: enough for an upgrade. */
  static final int GREETING_BYTES = 4096;

  private final int code;

  Work(int code) {
    this.code = code;
  }

  /** Returns the work that a greeting names; null if it is not one of this program. */
  static @Nullable Work of(ByteBuffer greeting) {
    for (Work each : values()) {
      if (each.code == greeting.getInt(0)) {
        return each;
      }
    }
    return null;
  }

  /** Returns the length of the messages that a greeting names. */
  static int messageBytes(ByteBuffer greeting) {
    return greeting.getInt(Integer.BYTES);
  }

  /** Asks the server to do this with messages of a length. */
  void greet(SocketChannel channel, int bytes) throws IOException {
    ByteBuffer greeting = ByteBuffer.allocateDirect(GREETING_BYTES);
    greeting.putInt(0, code).putInt(Integer.BYTES, bytes);
    write(channel, greeting);
    read(channel, greeting.clear());
  }

  static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** Reads until the buffer is full. */
  static void read(SocketChannel channel, ByteBuffer target) throws IOException {
    while (target.hasRemaining()) {
      if (channel.read(target) < 0) {
        throw new EOFException("the peer has ended the connection");
      }
    }
  }
}
