package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.Hello;

/**
 * Connections between two hosts, joined by a wire and moved step by step: an adversary chooses
 * which step comes next. Nothing happens by itself, so each run can be repeated.
 */
final class Simulation {
  /** What the adversary can do at one end of a connection. */
  enum Step {
    EXECUTE,
    DELIVER,
    COMPLETE,
    TELL,
    TAKE,
    FREE,
    SEND_SHORT,
    SEND_FULL,
    SEND_LONG,
    ASK,
    NOTIFY,
    SUPPLY,
    FLUSH_AGAIN,
    TICK,
    TICK_QUIET,
    END_OUTPUT,
    CLOSE,
    BREAK,
    STOP_DEVICE,
    NO_MEMORY,
    MEMORY,
    LIE
  }

  /** The steps after which a connection goes on as before. */
  static final List<Step> PEACEFUL = upTo(Step.TICK_QUIET);

  /** Those, the ends of a connection, and lack of memory. */
  static final List<Step> ENDING = upTo(Step.MEMORY);

  /** All steps. */
  static final List<Step> ALL = upTo(Step.LIE);

  private static List<Step> upTo(Step last) {
    return List.copyOf(EnumSet.range(Step.EXECUTE, last));
  }

  private final Host left;
  private final Host right;
  final List<End> ends = new ArrayList<>();
  private final int bufferBytes;
  private final int maxMessageBytes;

  /** Whether the receive queue holds fewer receives than there are buffers. */
  private final boolean isScarce;

  /**
   * Creates connections.
   *
   * @param seed chooses the limits of both sides
   * @param places the least number of receives for each connection that the receive queues hold
   */
  Simulation(int seed, int connections, int places) {
    bufferBytes = 48 + 16 * (seed & 3);
    maxMessageBytes = 4096;
    int receives = 1 << (1 + (seed >> 2 & 3));
    int sends = 2 << (seed >> 4 & 3);
    int buffers = connections * (10 << (seed >> 6 & 3));
    boolean sendsFirst = (seed >> 8 & 1) == 0;
    // With few places in the receive queue, receives are posted one by one.
    int depth = Math.min(buffers, connections * (places << (seed >> 9 & 3)));
    isScarce = depth < buffers;
    left = new Host(bufferBytes, buffers, depth);
    right = new Host(bufferBytes, buffers, depth);
    for (int i = 0; i < connections; i++) {
      End client = new End("client " + i, left, receives, sends, maxMessageBytes);
      End server = new End("server " + i, right, receives, sends, maxMessageBytes);
      Hello ofClient = client.hello(receives, sendsFirst);
      Hello ofServer = server.hello(receives, false);
      server.connect(client, ofClient, false);
      client.connect(server, ofServer, sendsFirst);
      ends.add(client);
      ends.add(server);
    }
  }

  /** Takes a step, which may find nothing to do. */
  void step(int number, List<Step> steps) {
    Step step = steps.get(Math.floorMod(number, steps.size()));
    int rest = Math.floorDiv(number, steps.size());
    End end = ends.get(Math.floorMod(rest, ends.size()));
    int parameter = Math.floorDiv(rest, ends.size());
    try {
      take(step, end, parameter);
    } catch (RdmaException noMemory) {
      // As the user of a real connection sees it: the call has failed, and nothing else.
      assertThat(left.outOfMemory || right.outOfMemory).as(noMemory.toString()).isTrue();
    }
  }

  private void take(Step step, End end, int parameter) {
    switch (step) {
      case EXECUTE -> end.execute();
      case DELIVER -> end.deliver();
      case COMPLETE -> end.complete();
      case TELL -> end.tell();
      case TAKE -> end.take();
      case FREE -> end.free();
      case SEND_SHORT -> end.send(Math.floorMod(parameter, bufferBytes));
      case SEND_FULL -> end.send(bufferBytes);
      case SEND_LONG -> end.send(bufferBytes + 1 + Math.floorMod(parameter, maxMessageBytes / 2));
      case ASK -> end.ask(Math.floorMod(parameter, 2 * bufferBytes));
      case NOTIFY -> end.sendNotice();
      case SUPPLY -> end.supply();
      case FLUSH_AGAIN -> end.flushAgain();
      case TICK -> end.tick(0);
      case TICK_QUIET -> end.tick(2_000_000_000);
      case NO_MEMORY -> end.host.outOfMemory = true;
      case MEMORY -> end.host.outOfMemory = false;
      case END_OUTPUT -> end.endOutput();
      case CLOSE -> end.close();
      case BREAK -> end.breakUp();
      case STOP_DEVICE -> end.stopDevice();
      case LIE -> end.lie(parameter, parameter >> 5);
    }
  }

  /**
   * Lets everything go on fairly until nothing moves any more: without the passing of time, unless
   * receives are scarce.
   *
   * @return the number of rounds that took
   */
  int settle() {
    left.outOfMemory = false;
    right.outOfMemory = false;
    int rounds = 0;
    boolean moved = true;
    while (moved) {
      moved = false;
      for (End end : ends) {
        moved |= end.flushAgain();
        moved |= end.execute();
        moved |= end.complete();
        moved |= end.deliver();
        moved |= end.supply();
        moved |= end.tell();
        moved |= end.take();
        moved |= end.free();
      }
      if (!moved && isScarce) {
        // Then connections wait until others give back the credits that they do not use.
        moved = giveBack();
      }
      rounds++;
      assertThat(rounds).as("rounds without an end: " + ends).isLessThan(100_000);
    }
    return rounds;
  }

  private boolean giveBack() {
    int before = left.posted.size() + right.posted.size();
    boolean moves = false;
    for (End end : ends) {
      moves |= end.giveBack();
    }
    return moves || before != left.posted.size() + right.posted.size();
  }

  /** Checks that all that was sent has arrived, and that nobody waits. */
  void checkComplete() {
    for (int i = 0; i < ends.size(); i += 2) {
      checkComplete(ends.get(i), ends.get(i + 1));
      checkComplete(ends.get(i + 1), ends.get(i));
    }
  }

  private void checkComplete(End from, End to) {
    String state = from + "\n" + to;
    assertThat(from.session.lifecycle().failure()).as("failure of " + state).isNull();
    assertThat(from.isIdle()).as("deadlock: nothing moves, but\n" + state).isTrue();
    assertThat(from.done).as("requests done: " + state).isEqualTo(from.sent);
    assertThat(from.failed).as("requests failed: " + state).isZero();
    assertThat(from.answered).as("requests answered: " + state).isEqualTo(from.asked);
    assertThat(to.received).as("messages received: " + state).isEqualTo(from.sentMessages());
    assertThat(from.session.hasRoomForMessage()).as("room to send: " + state).isTrue();
  }

  /** Ends all connections, and checks that everything has ended once and every buffer is back. */
  void checkEnd() {
    for (End end : ends) {
      end.stopDevice();
    }
    settle();
    for (End end : ends) {
      // Otherwise a close would wait for completions that never come.
      assertThat(end.session.postedCount()).as("with the device: " + end).isZero();
      end.discard();
    }
    settle();
    for (End end : ends) {
      assertThat(end.ended).as("told of the end: " + end).isTrue();
      assertThat(end.done + end.failed).as("requests ended: " + end).isEqualTo(end.sent);
      assertThat(end.answered).as("requests answered or failed: " + end).isEqualTo(end.asked);
      assertThat(end.session.outstanding()).as("outstanding: " + end).isZero();
    }
    for (Host host : List.of(left, right)) {
      assertThat(host.pool.inUse())
          .as("buffers in use, besides those of posted receives: " + ends)
          .isEqualTo(host.posted.size());
      assertThat(host.supply.posted()).isEqualTo(host.posted.size());
      assertThat(host.largeBuffers.inUse()).as("bytes of long messages in use: " + ends).isZero();
    }
  }
}
