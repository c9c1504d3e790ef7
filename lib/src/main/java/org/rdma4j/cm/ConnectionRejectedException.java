package org.rdma4j.cm;

import java.nio.ByteBuffer;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;

/** The peer rejected a connection, or nobody listens there: {@code RDMA_CM_EVENT_REJECTED}. */
public final class ConnectionRejectedException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** As {@link #reason} says. */
  private final int reason;

  /** What came with the rejection. */
  private final byte[] privateData;

  /**
   * A rejection.
   *
   * @param call the C function, with the address
   * @param rejected what the peer answered
   */
  public ConnectionRejectedException(String call, CmEvent.Rejected rejected) {
    super(call, ErrorNumber.ECONNREFUSED.value(), advice(rejected.reason()));
    this.reason = rejected.reason();
    this.privateData = new byte[rejected.privateData().remaining()];
    rejected.privateData().get(privateData);
  }

  private static String advice(int reason) {
    return switch (reason) {
      case CmEvent.Rejected.INVALID_SERVICE_ID -> "Nobody listens at that port there (reason 8)";
      case CmEvent.Rejected.CONSUMER_DEFINED -> "The program that listens there rejected it";
      default -> "The reason is " + reason + " of the InfiniBand connection manager";
    };
  }

  /**
   * Why, as the InfiniBand connection manager has it.
   *
   * @return such as {@link CmEvent.Rejected#CONSUMER_DEFINED}
   */
  public int reason() {
    return reason;
  }

  /**
   * What the peer told with the rejection.
   *
   * @return its private data, read-only, with zeros behind as far as a rejection carries it
   */
  public ByteBuffer privateData() {
    return ByteBuffer.wrap(privateData).asReadOnlyBuffer();
  }
}
