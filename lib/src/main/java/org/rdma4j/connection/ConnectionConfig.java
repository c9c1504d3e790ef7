package org.rdma4j.connection;

import java.time.Duration;
import org.rdma4j.platform.Range;

/**
 * The configuration of one side of a connection; the two sides may differ. Start from {@link
 * #DEFAULT}. Immutable: each method that takes a value returns a changed copy.
 *
 * @param messageBytes the length in bytes of each buffer, which limits the messages that this side
 *     receives, and those that it sends from its own buffers; default 65536
 * @param receives the number of messages that the peer may send before this side has received and
 *     closed one; default 16
 * @param sends the number of buffers to send from; default 16
 * @param closeTimeout the time that a close waits at most until everything sent has arrived;
 *     default 5 s
 */
public record ConnectionConfig(int messageBytes, int receives, int sends, Duration closeTimeout) {
  /** Messages of 64 KiB, 16 receives, 16 sends, and 5 seconds to close. */
  public static final ConnectionConfig DEFAULT =
      new ConnectionConfig(1 << 16, 16, 16, Duration.ofSeconds(5));

  private static final int MAX_MESSAGE_BYTES = 1 << 30;
  private static final int MAX_MESSAGES = 1 << 14;

  /**
   * Creates a configuration with all its values.
   *
   * @throws IllegalArgumentException if a value is out of its range: from 1 to 1 GiB for the
   *     length, from 1 to 16384 for the numbers of messages, not negative for the timeout
   */
  public ConnectionConfig {
    Range.check("messageBytes", messageBytes, 1, MAX_MESSAGE_BYTES);
    Range.check("receives", receives, 1, MAX_MESSAGES);
    Range.check("sends", sends, 1, MAX_MESSAGES);
    if (closeTimeout.isNegative()) {
      throw new IllegalArgumentException(
          "closeTimeout is " + closeTimeout + ", must not be negative");
    }
  }

  /**
   * Returns a copy with another {@link #messageBytes()}.
   *
   * @param messageBytes the length of each buffer in bytes, from 1 to 1 GiB
   * @return the copy
   * @throws IllegalArgumentException if the length is out of range
   */
  public ConnectionConfig messageBytes(int messageBytes) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }

  /**
   * Returns a copy with another {@link #receives()}.
   *
   * @param receives the number of messages, from 1 to 16384
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public ConnectionConfig receives(int receives) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }

  /**
   * Returns a copy with another {@link #sends()}.
   *
   * @param sends the number of buffers, from 1 to 16384
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public ConnectionConfig sends(int sends) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }

  /**
   * Returns a copy with another {@link #closeTimeout()}.
   *
   * @param closeTimeout the time that a close waits at most, not negative
   * @return the copy
   * @throws IllegalArgumentException if the time is negative
   */
  public ConnectionConfig closeTimeout(Duration closeTimeout) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }
}
