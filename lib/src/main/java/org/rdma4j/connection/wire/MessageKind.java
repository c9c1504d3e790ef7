package org.rdma4j.connection.wire;

import org.jspecify.annotations.Nullable;

/** What a message on the wire is for. */
public enum MessageKind {
  /** A message of the user. */
  MESSAGE(0, true, MessageHeader.OFFER | MessageHeader.PACKED, true),
  /** Follows a write; the number in the header is the value that the writer gave. */
  NOTICE(1, true, 0, true),
  /** A request, whose answer has the same number. */
  REQUEST(2, true, MessageHeader.OFFER, true),
  /** The answer to a request. */
  ANSWER(3, true, MessageHeader.OFFER, false),
  /** Reports that a request has no answer, with the reason. */
  REFUSAL(4, true, 0, false),
  /** Credits and fetched offers alone. */
  CONTROL(5, false, 0, false),
  /** The sender sends nothing more. */
  END(6, false, MessageHeader.CLOSED | MessageHeader.BROKEN, false),
  /** Gives back credits: as many as its number. */
  RETURN(7, true, 0, false),
  /**
   * Reports that no caller waits for the answer to a request any more, which is sent all the same.
   */
  CANCEL(8, true, 0, false);

  private static final MessageKind[] BY_CODE = values();

  private final int code;
  private final boolean takesCredit;
  private final int flags;
  private final boolean isOutput;

  MessageKind(int code, boolean takesCredit, int flags, boolean isOutput) {
    this.code = code;
    this.takesCredit = takesCredit;
    this.flags =
        flags | MessageHeader.PROTOCOL_READ | (takesCredit ? MessageHeader.LACKED_CREDIT : 0);
    this.isOutput = isOutput;
  }

  public int code() {
    return code;
  }

  /** Returns whether a message of this kind may be sent only with a credit. */
  public boolean takesCredit() {
    return takesCredit;
  }

  /**
   * Returns whether a message of this kind and with these flags ends the output of its sender, and
   * not the connection: with {@link Hello#ONE_RECEIVE}, it may be sent only with a credit.
   */
  public boolean isEndOfOutput(int withFlags) {
    return this == END && (withFlags & (MessageHeader.CLOSED | MessageHeader.BROKEN)) == 0;
  }

  /** Returns the flags that a message of this kind may have. */
  public int flags() {
    return flags;
  }

  /**
   * Returns whether it belongs to the output of its sender, so that none follows the end of that.
   */
  public boolean isOutput() {
    return isOutput;
  }

  /** Returns whether it carries something that a user has sent. */
  public boolean isOfUser() {
    return code <= REFUSAL.code;
  }

  /** Returns the kind with this code; null if there is none. */
  public static @Nullable MessageKind of(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
