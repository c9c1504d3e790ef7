package org.rdma4j.connection.wire;

import org.jspecify.annotations.Nullable;

/** What a message on the wire is for. */
public enum MessageKind {
  /** A message of the user. */
  MESSAGE(0, true),
  /** Follows a write; the number in the header is the value that the writer gave. */
  NOTICE(1, true),
  /** A request, whose answer has the same number. */
  REQUEST(2, true),
  /** The answer to a request. */
  ANSWER(3, true),
  /** Tells that a request has no answer, with the reason. */
  REFUSAL(4, true),
  /** Credits and fetched offers alone. */
  CONTROL(5, false),
  /** The sender sends nothing more. */
  END(6, false),
  /** Gives back credits: as many as its number. */
  RETURN(7, true);

  private static final MessageKind[] BY_CODE = values();

  private final int code;
  private final boolean takesCredit;

  MessageKind(int code, boolean takesCredit) {
    this.code = code;
    this.takesCredit = takesCredit;
  }

  public int code() {
    return code;
  }

  /** Returns whether a message of this kind may be sent only with a credit. */
  public boolean takesCredit() {
    return takesCredit;
  }

  /** Returns the kind with this code; null if there is none. */
  public static @Nullable MessageKind of(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
