package org.rdma4j.connection.session;

/** The next notification of the user of a connection. */
public enum Delivery {
  /** There is nothing now. */
  NOTHING,
  /** A request is done: {@link Session#takeDone}. */
  DONE,
  /** The user should send no more, or go on: {@link Session#takeWritability}. */
  WRITABILITY,
  /** A request to the peer was answered or refused: {@link Session#takeAnswer}. */
  ANSWER,
  /** The peer has sent a request: {@link Session#takeRequest}. */
  REQUEST,
  /** A message has arrived: {@link Session#takeMessages} or {@link Session#pollMessage}. */
  MESSAGE,
  /** The peer sends nothing more, but still receives: {@link Session#takeInputEnd}. */
  INPUT_END,
  /** The connection has ended: {@link Session#takeEnd}. */
  END
}
