package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One end of a TCP connection that may be upgraded to RDMA: a channel, or a socket of a program
 * that uses no channels. Its input and output ask it for TCP, and its {@link Upgrade} notifies it
 * of changes.
 */
interface TcpEnd {
  /** Shuts down one direction of TCP. */
  interface Shutdown {
    void run() throws IOException;
  }

  /** Returns the address of the peer. */
  InetSocketAddress remote();

  /** Returns true until the program closes it. */
  boolean isOpen();

  /** Returns whether reads and writes wait. */
  boolean isBlocking();

  /** Returns what an operator may know of it. */
  ChannelRecord record();

  ChannelInput input();

  ChannelOutput output();

  /**
   * Reads from TCP.
   *
   * @return the number of bytes; -1 at the end of the stream
   */
  int readTcp(ByteBuffer target) throws IOException;

  /**
   * Writes to TCP. The positions of the buffers show how much was written, also if it fails; if
   * that is unknown, the output must be {@link ChannelOutput#lost} before that.
   *
   * @return the number of bytes
   */
  long writeTcp(ByteBuffer[] sources, int offset, int length) throws IOException;

  /**
   * Waits for RDMA, and ends when an interrupt or a close ends a wait for TCP.
   *
   * @param wait says when it is over, and takes each step
   * @throws java.net.SocketTimeoutException if its time is up
   */
  void await(Awaiting wait) throws IOException;

  /** Prepares the calling thread for sleep, before it sleeps for the first time in a wait. */
  void beginSleep();

  /**
   * Notifies that nothing more is read from TCP: the peer's output has moved to RDMA, and all
   * before it was read, or the connection was reset.
   */
  void inputMoved();

  /** Returns whether the input of TCP is open, so that the connection may resume over it. */
  boolean mayResume();

  /** Ends the input of TCP, and wakes a thread that waits for it. */
  void endTcpInput();

  /** Ends the output of TCP. */
  void endTcpOutput() throws IOException;

  /**
   * Closes TCP, after {@link UpgradeClose#delaysTcp}.
   *
   * @param resets whether the peer sees a reset
   */
  void closeTcp(boolean resets);

  /** Notifies it that it may have become ready over RDMA, for operations of a selection key. */
  void ready(int operations);

  /** Notifies it that the way of input or output may be another one, or may have ended. */
  void changed();

  /** Stays on TCP for good. */
  void forget(Upgrade way);

  /**
   * Returns where the upgrade is that counts; null is in it once the connection stays on TCP.
   * Another upgrade may follow after a resume.
   */
  AtomicReference<@Nullable Upgrade> upgrade();

  /** Returns the upgrade that counts: the given one, or the next, once that has followed. */
  default Upgrade current(Upgrade before) {
    return Objects.requireNonNullElse(upgrade().get(), before);
  }
}
