package org.rdma4j.endpoint;

import java.io.IOException;

/**
 * The program at the other end of the TCP connection is not an endpoint of this library, uses
 * another version of the handshake, sent an address that cannot be used, took too long, or ended
 * early. The message says which.
 *
 * @see Endpoint#connect(InetSocketAddress, Duration)
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
