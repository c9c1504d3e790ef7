package org.rdma4j.connection;

import java.time.Duration;
import org.rdma4j.platform.Range;

/**
 * What a connection is made with on this side. Immutable; each method that takes a value returns a
 * changed copy.
 *
 * @param messageBytes how long a message may be that is received, or sent from a buffer of this
 *     side; default 65536
 * @param receives how many messages are received before the peer has to wait until one was taken
 *     and closed; default 16
 * @param sends how many buffers there are to send from; default 16
 * @param closeTimeout how long a close waits at most until what was sent has arrived; default 5 s
 */
public record ConnectionConfig(int messageBytes, int receives, int sends, Duration closeTimeout) {
  /** 64 KiB, 16 and 16 messages, and 5 seconds. */
  public static final ConnectionConfig DEFAULT =
      new ConnectionConfig(1 << 16, 16, 16, Duration.ofSeconds(5));

  private static final int MAX_MESSAGE_BYTES = 1 << 30;
  private static final int MAX_MESSAGES = 1 << 14;

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException where one is out of its range: 1 to 1 GiB for the length, 1 to
   *     16384 for messages, and not negative for the timeout
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
   * A copy with another {@link #messageBytes()}.
   *
   * @param messageBytes how long a message may be, 1 to 1 GiB
   * @return the copy
   */
  public ConnectionConfig messageBytes(int messageBytes) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }

  /**
   * A copy with another {@link #receives()}.
   *
   * @param receives how many messages, 1 to 16384
   * @return the copy
   */
  public ConnectionConfig receives(int receives) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }

  /**
   * A copy with another {@link #sends()}.
   *
   * @param sends how many buffers, 1 to 16384
   * @return the copy
   */
  public ConnectionConfig sends(int sends) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }

  /**
   * A copy with another {@link #closeTimeout()}.
   *
   * @param closeTimeout how long a close waits at most, not negative
   * @return the copy
   */
  public ConnectionConfig closeTimeout(Duration closeTimeout) {
    return new ConnectionConfig(messageBytes, receives, sends, closeTimeout);
  }
}
