package org.rdma4j.connection.session;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** What the adversary can do at one end of a connection. */
enum Step {
  // What the device and the link do.
  EXECUTE,
  DELIVER,
  COMPLETE,
  COMPLETE_CHAIN,
  SUPPLY,
  END_EXPOSURE,
  FLUSH_AGAIN,
  TICK,
  TICK_QUIET,

  // What users do.
  TELL,
  TAKE,
  FREE,
  SEND_SHORT,
  SEND_FULL,
  SEND_LONG,
  SEND_PIECES,
  ASK,
  CANCEL,
  NOTIFY,

  // What users do with the memory of the peer.
  READ,
  WRITE,
  WRITE_AND_NOTIFY,
  ADD,
  SWAP,
  SEND_MEMORY,
  READ_AND_WAIT,
  WRITE_AND_WAIT,
  NOTIFY_AND_WAIT,
  RESUME,
  GIVE_UP,
  CLOSE_UNPOSTED,

  // What threads do that send one message after the other.
  FLOOD_SHORT,
  FLOOD_LONG,
  SEND_ON,
  FORWARD,

  // What ends a connection, and what memory may be missing.
  END_OUTPUT,
  CLOSE,
  BREAK,
  STOP_DEVICE,
  NO_MEMORY,
  MEMORY,

  // What ends it because of the memory of an operation.
  CLOSE_MEMORY,
  REVOKE,
  REFUSE,

  // What an untrue peer does.
  LIE,
  FORGE;

  /** Those after which a connection goes on as before. */
  static final List<Step> PEACEFUL = range(EXECUTE, NOTIFY);

  /** Those, and operations on the memory of the peer. */
  static final List<Step> OPERATING = range(EXECUTE, CLOSE_UNPOSTED);

  /** Threads that send and receive without a pause. */
  static final List<Step> FLOODING = both(range(EXECUTE, FREE), range(FLOOD_SHORT, FORWARD));

  /** The peaceful ones, the ends of a connection, and lack of memory. */
  static final List<Step> ENDING = both(PEACEFUL, range(END_OUTPUT, MEMORY));

  /** What can end operations in the middle. */
  static final List<Step> ENDING_OPERATIONS = both(OPERATING, range(END_OUTPUT, REFUSE));

  /** What can end threads that send in the middle. */
  static final List<Step> ENDING_FLOODS = both(FLOODING, range(END_OUTPUT, STOP_DEVICE));

  /** All that ends a connection without operations, and lies. */
  static final List<Step> LYING = both(ENDING, List.of(LIE));

  /** What a hostile peer sends, among all that others do. */
  static final List<Step> HOSTILE = both(OPERATING, List.of(FORGE, FORGE, FLOOD_SHORT, SEND_ON));

  /** What a hostile peer sends, among threads that send and receive without a pause. */
  static final List<Step> FUZZING = both(FLOODING, List.of(FORGE, FORGE, FORGE));

  private static List<Step> range(Step first, Step last) {
    return List.copyOf(EnumSet.range(first, last));
  }

  private static List<Step> both(List<Step> some, List<Step> more) {
    List<Step> all = new ArrayList<>(some);
    all.addAll(more);
    return List.copyOf(all);
  }
}
