package org.rdma4j.cm;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;

/**
 * The peer rejected a connection, or no program listens there: {@code RDMA_CM_EVENT_REJECTED}. A
 * server gets it from a client that gives up a connection which the server has accepted.
 *
 * @see CmId#reject
 */
public final class ConnectionRejectedException extends RdmaException {
  private static final long serialVersionUID = 1L;

  private static final String NOBODY_LISTENS =
      "No program listens on that port: check the address and the port, or start the server";

  /** See {@link #reason}. */
  private final int reason;

  /** See {@link #privateData}. */
  private final byte[] privateData;

  /**
   * Creates the exception for a rejection.
   *
   * @param call the C function, with the address in parentheses; {@code rdma_accept} in a server
   * @param rejected the event
   */
  public ConnectionRejectedException(String call, CmEvent.Rejected rejected) {
    super(call, ErrorNumber.ECONNREFUSED.value(), advice(call, rejected));
    this.reason = rejected.reason();
    this.privateData = new byte[rejected.privateData().remaining()];
    rejected.privateData().get(privateData);
  }

  /**
   * Creates the exception for a call that failed because no program listens. Only over iWARP the
   * call itself fails; otherwise an event reports it.
   *
   * @param call the C function
   */
  ConnectionRejectedException(String call) {
    super(call, ErrorNumber.ECONNREFUSED.value(), NOBODY_LISTENS);
    this.reason = -ErrorNumber.ECONNREFUSED.value();
    this.privateData = new byte[0];
  }

  /** A server is rejected too: by a client that cannot use what the server answered. */
  private static String advice(String call, CmEvent.Rejected rejected) {
    int reason = rejected.reason();
    if (call.startsWith("rdma_accept")) {
      return "The client gave up the connection after this side had accepted it (reason "
          + reason
          + "): its own output has the reason";
    }
    return switch (reason) {
      case CmEvent.Rejected.INVALID_SERVICE_ID -> NOBODY_LISTENS;
      case CmEvent.Rejected.CONSUMER_DEFINED ->
          "The program that listens there rejected the connection (reason 28)"
              + quoted(rejected.privateData());
      // iWARP adapters give different errno values for the same reason.
      default ->
          reason < 0
              ? "The program that listens there rejected the connection, or none listens (reason "
                  + reason
                  + " of iWARP)"
              : "The InfiniBand connection manager gives reason " + reason;
    };
  }

  /** Returns the private data if it is a text that a terminal may show; otherwise nothing. */
  private static String quoted(ByteBuffer privateData) {
    String text =
        StandardCharsets.US_ASCII
            .decode(privateData.duplicate())
            .toString()
            .replaceFirst("\0+$", "");
    return text.matches("[ -~]+") ? " and says: " + text : "";
  }

  /**
   * Returns the reason: a number of the InfiniBand connection manager, or over iWARP the negative
   * of an errno value.
   *
   * @return the reason, for example {@link CmEvent.Rejected#CONSUMER_DEFINED}
   */
  public int reason() {
    return reason;
  }

  /**
   * Returns what the peer sent with the rejection.
   *
   * @return the private data, read-only, filled up with zeros to the length that a rejection
   *     carries; if it is a text of printable ASCII characters, the message of this exception has
   *     it too
   */
  public ByteBuffer privateData() {
    return ByteBuffer.wrap(privateData).asReadOnlyBuffer();
  }
}
