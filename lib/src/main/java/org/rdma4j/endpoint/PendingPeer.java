package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A peer that has connected over TCP and has not completed the handshake.
 *
 * @param <T> what this side makes for a peer
 */
final class PendingPeer<T> {
  /** How far the handshake has come. */
  enum State {
    /** The address of the peer has not arrived. */
    SILENT,
    /** It has arrived, and this side makes something for the peer. */
    HEARD,
    /** This side has sent its own address. */
    ANSWERED,
    /** The handshake is complete, or has failed. */
    ENDED
  }

  private static final System.Logger LOG = System.getLogger("org.rdma4j");

  private final SocketChannel channel;
  private final SocketAddress address;
  private final Duration limit;
  private State state = State.SILENT;
  private IncomingMessage message = new IncomingMessage(IncomingMessage.Kind.ADDRESS);
  private @Nullable T prepared;
  private long end;

  /**
   * Creates a peer that has just connected.
   *
   * @param limit how long it may take for each of its messages
   */
  PendingPeer(SocketChannel channel, Duration limit) throws IOException {
    this.channel = channel;
    this.address = channel.getRemoteAddress();
    this.limit = limit;
    this.end = System.nanoTime() + limit.toNanos();
  }

  SocketAddress address() {
    return address;
  }

  synchronized State state() {
    return state;
  }

  /**
   * Reads what has arrived.
   *
   * @return whether the message that comes next is complete
   */
  synchronized boolean read() throws IOException {
    try {
      boolean complete = message.readFrom(channel);
      if (complete && state == State.SILENT) {
        state = State.HEARD;
      }
      return complete;
    } catch (HandshakeException wrong) {
      throw wrong;
    } catch (IOException broken) {
      throw new HandshakeException(
          "the TCP connection broke after %s (%s)"
              .formatted(message.progress(), broken.getMessage()),
          broken);
    }
  }

  /** Returns the address that has arrived. */
  synchronized EndpointAddress remote() throws HandshakeException {
    return EndpointAddress.decode(message.content());
  }

  /**
   * Keeps what this side made for the peer, and sends it the address.
   *
   * @return whether it is kept; false if the peer was dropped meanwhile
   */
  synchronized boolean answer(T made, EndpointAddress local) throws HandshakeException {
    if (state == State.ENDED) {
      return false;
    }
    state = State.ANSWERED;
    prepared = made;
    message = new IncomingMessage(IncomingMessage.Kind.READY);
    end = System.nanoTime() + limit.toNanos();
    write(IncomingMessage.Kind.ADDRESS.encode(local.encode()));
    return true;
  }

  /**
   * Tells the peer that it is accepted.
   *
   * @return what this side made for it; null if the peer was dropped meanwhile
   */
  synchronized @Nullable T accept() throws HandshakeException {
    T made = prepared;
    if (made == null) {
      return null;
    }
    if (readByte() != 0) {
      throw new HandshakeException("the peer did not wait until it was accepted; it gave up");
    }
    write(IncomingMessage.Kind.ACCEPTED.encode(new byte[0]));
    prepared = null;
    return made;
  }

  /** Returns -1 at the end, 0 if nothing has arrived, and otherwise 1. */
  private int readByte() throws HandshakeException {
    try {
      return channel.read(ByteBuffer.allocate(1));
    } catch (IOException broken) {
      throw closed(broken);
    }
  }

  private void write(ByteBuffer bytes) throws HandshakeException {
    try {
      channel.write(bytes);
    } catch (IOException broken) {
      throw closed(broken);
    }
    if (bytes.hasRemaining()) {
      throw new HandshakeException(
          "the peer does not read: its TCP connection takes only %d bytes"
              .formatted(bytes.position()));
    }
  }

  private static HandshakeException closed(IOException cause) {
    return new HandshakeException(
        "the peer closed the TCP connection (%s); the error is in its own output"
            .formatted(cause.getMessage()),
        cause);
  }

  /** Returns the time that the peer still has for its message, in nanoseconds. */
  synchronized long nanosLeft() {
    return state == State.HEARD ? Long.MAX_VALUE : end - System.nanoTime();
  }

  /** Returns what to throw if the peer's time is over. */
  synchronized HandshakeException late() {
    return new HandshakeException(
        "the peer %s sent %s within %s".formatted(address, message.progress(), limit));
  }

  /**
   * Closes the TCP connection, and returns what this side made for the peer, if it is still here.
   */
  synchronized @Nullable T end() {
    state = State.ENDED;
    T made = prepared;
    prepared = null;
    try {
      channel.close();
    } catch (IOException failed) {
      // What was made for the peer must not be lost.
      LOG.log(System.Logger.Level.DEBUG, "the TCP connection of a peer was not closed", failed);
    }
    return made;
  }
}
