package org.rdma4j.endpoint;

import java.io.IOException;

/**
 * Whoever is at the other end of the TCP connection is no endpoint of this library, or one of
 * another version, or it ended early. The message tells which.
 */
public final class HandshakeException extends IOException {
  private static final long serialVersionUID = 1L;

  HandshakeException(String message) {
    super(message);
  }

  HandshakeException(String message, Throwable cause) {
    super(message, cause);
  }
}
