package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.Forgery;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.connection.wire.Offered;

/**
 * Connections between hosts, joined by a wire and moved step by step: an adversary chooses which
 * step comes next. Nothing happens by itself, so each run can be repeated.
 */
final class Simulation {
  private final Limits limits;
  private final List<Host> hosts = new ArrayList<>();
  private final List<End> ends = new ArrayList<>();

  /** An end that follows no protocol, and does nothing any more once all others go on. */
  private @Nullable End hostile;

  /** Where the memory is that the hostile end offers. */
  private long hostileAddress;

  /** Whether all that waits for memory is the protocol, so that the limits hold. */
  private boolean isBounded;

  private Simulation(Limits limits) {
    this.limits = limits;
  }

  /** Creates connections between two hosts. */
  static Simulation of(Limits limits, int connections) {
    Simulation made = new Simulation(limits);
    Host left = made.newHost(limits.bufferBytes(), limits.features());
    Host right = made.newHost(limits.peerBufferBytes(), limits.peerFeatures());
    for (int i = 0; i < connections; i++) {
      made.connect("" + i, left, right);
    }
    return made;
  }

  /** Creates connections between two hosts, and one of the second host to a hostile peer. */
  static Simulation withHostile(Limits limits, int connections) {
    Simulation made = of(limits, connections);
    Host right = made.hosts.get(1);
    made.hostile =
        made.connect("hostile", made.newHost(limits.bufferBytes(), Hello.FEATURES), right);
    made.hostile.peer().user.peerLies = true;
    made.hostileAddress = made.hostile.host.share(new UserRegion(1024));
    for (End each : made.ends) {
      // Who sends without a credit takes receives of others.
      each.device.isRobbed = each.host == right;
    }
    return made;
  }

  private Host newHost(int bufferBytes, int features) {
    Host made = new Host(bufferBytes, features, limits, Limits.MAX_LARGE);
    hosts.add(made);
    return made;
  }

  /** Returns an end: those of clients are even, those of servers odd. */
  End end(int index) {
    return ends.get(index);
  }

  /** Connects two hosts; returns the end of the first. */
  private End connect(String number, Host left, Host right) {
    End client = new End("client " + number, left, limits);
    End server = new End("server " + number, right, limits);
    Hello ofClient = client.hello(limits.sendsFirst());
    Hello ofServer = server.hello(false);
    server.connect(client, ofClient, false);
    client.connect(server, ofServer, limits.sendsFirst());
    ends.add(client);
    ends.add(server);
    return client;
  }

  /** Takes steps, of which each number chooses one. */
  void run(List<Integer> numbers, List<Step> steps) {
    isBounded = Step.FUZZING.containsAll(steps);
    for (int number : numbers) {
      step(number, steps);
    }
  }

  private void step(int number, List<Step> steps) {
    Step step = steps.get(Math.floorMod(number, steps.size()));
    int rest = Math.floorDiv(number, steps.size());
    End end = ends.get(Math.floorMod(rest, ends.size()));
    try {
      take(step, end, Math.floorDiv(rest, ends.size()));
    } catch (RdmaException noMemory) {
      // As the user of a real connection sees it: the call has failed, and nothing else.
      assertThat(hosts).as(noMemory::toString).anyMatch(each -> each.outOfMemory);
    }
    checkMemory();
  }

  private void take(Step step, End end, int parameter) {
    User user = end.user;
    switch (step) {
      case EXECUTE -> end.device.execute();
      case DELIVER -> end.deliver();
      case COMPLETE -> end.complete();
      case COMPLETE_CHAIN -> end.completeChain();
      case SUPPLY -> end.supply();
      case END_EXPOSURE -> end.endExposure();
      case FLUSH_AGAIN -> {
        end.flushAgain();
        end.goOnWithBuffer();
      }
      case TICK -> end.tick(0);
      case TICK_QUIET -> end.tick(2_000_000_000);
      case TELL -> user.tell();
      case TAKE -> user.take();
      case FREE -> user.free();
      case SEND_SHORT -> user.send(Math.floorMod(parameter, end.host.pool.bufferBytes()));
      case SEND_FULL -> user.send(end.host.pool.bufferBytes());
      case SEND_LONG -> user.send(longer(parameter));
      case SEND_PIECES -> user.sendInPieces(longer(parameter));
      case ASK -> user.ask(Math.floorMod(parameter, 2 * limits.bufferBytes()));
      case CANCEL -> user.cancel();
      case NOTIFY -> user.sendNotice();
      case READ -> user.begin(Operation.Kind.READ, false);
      case WRITE -> user.begin(Operation.Kind.WRITE, false);
      case WRITE_AND_NOTIFY -> user.begin(Operation.Kind.WRITE_AND_NOTIFY, false);
      case ADD -> user.begin(Operation.Kind.ADD, false);
      case SWAP -> user.begin(Operation.Kind.SWAP, false);
      case SEND_MEMORY -> user.begin(Operation.Kind.SEND_MEMORY, false);
      case READ_AND_WAIT -> user.begin(Operation.Kind.READ, true);
      case WRITE_AND_WAIT -> user.begin(Operation.Kind.WRITE, true);
      case NOTIFY_AND_WAIT -> user.begin(Operation.Kind.WRITE_AND_NOTIFY, true);
      case RESUME -> user.operations.resume();
      case GIVE_UP -> user.operations.giveUp();
      case CLOSE_UNPOSTED -> user.operations.closeUnposted(parameter);
      case FLOOD_SHORT ->
          flood(user, parameter, Math.floorMod(parameter >> 4, limits.bufferBytes()));
      case FLOOD_LONG -> flood(user, parameter, longer(parameter >> 4));
      case SEND_ON -> user.senders().get(Math.floorMod(parameter, 2)).step();
      case FORWARD -> {
        // If both sides only send on what they get, each waits until the other receives.
        if (ends.indexOf(end) % 2 == 1) {
          user.forward();
        }
      }
      case NO_MEMORY -> end.host.outOfMemory = true;
      case MEMORY -> end.host.outOfMemory = false;
      case END_OUTPUT -> end.endOutput();
      case CLOSE -> end.close();
      case BREAK -> end.breakUp();
      case STOP_DEVICE -> end.stopDevice();
      case CLOSE_MEMORY -> user.operations.closeAny(parameter);
      case REVOKE -> user.operations.revoke();
      case REFUSE -> end.device.refuses = true;
      case LIE -> lie(end, parameter);
      case FORGE -> {
        for (int i = 0; i <= (parameter >> 2 & 15); i++) {
          forge(parameter + i);
        }
      }
    }
  }

  /**
   * Sends short messages from one end, and lets all of them arrive: as many at a time as the
   * credits allow, so that the window of the receiver grows.
   */
  void flood(int sender, int messages) {
    isBounded = true;
    End end = ends.get(sender);
    Sender thread = end.user.senders().getFirst();
    thread.add(messages, 4);
    boolean sends = true;
    while (sends) {
      sends = untilNothingMoves(thread::step, end.device::execute, end::completeChain);
      untilNothingMoves(end.peer()::deliver);
      User reader = end.peer().user;
      untilNothingMoves(reader::take, reader::free, end.peer().device::execute);
      untilNothingMoves(end::deliver);
    }
    settle();
  }

  /** A client sends messages, each of which the server sends back, and takes no answer. */
  void sendWithoutReceiving(int client, int messages) {
    End end = ends.get(client);
    End server = end.peer();
    Sender thread = end.user.senders().getFirst();
    thread.add(messages, 4);
    boolean moved = true;
    while (moved) {
      moved =
          untilNothingMoves(
              thread::step,
              end.device::execute,
              end::completeChain,
              server::deliver,
              server.user::take,
              server.user::forward,
              server.device::execute,
              server::completeChain,
              server::flushAgain,
              end::deliver);
    }
  }

  /** Takes some steps again and again; returns whether anything has moved. */
  static boolean untilNothingMoves(BooleanSupplier... steps) {
    boolean movedOnce = false;
    boolean moved = true;
    while (moved) {
      moved = false;
      for (BooleanSupplier each : steps) {
        moved |= each.getAsBoolean();
      }
      movedOnce |= moved;
    }
    return movedOnce;
  }

  private int longer(int parameter) {
    return limits.bufferBytes()
        + 1
        + Math.floorMod(parameter, Limits.MAX_MESSAGE - limits.bufferBytes());
  }

  private static void flood(User user, int parameter, int bytes) {
    user.senders().get(parameter & 1).add(1 + (parameter >> 1 & 7), bytes);
  }

  private static void lie(End end, int parameter) {
    end.user.peerLies |= end.device.lie(parameter, parameter >> 5);
  }

  /** The hostile end sends what a number chooses; returns whether the peer has a receive for it. */
  boolean forge(int number) {
    if (hostile == null) {
      return false;
    }
    Hello receiver = hostile.peer().hello(false);
    SplittableRandom random = new SplittableRandom(number);
    return forge(new Forgery(random, receiver, hostileAddress, Host.SHARED, 1024).next());
  }

  /** The hostile end offers the first bytes of a message. */
  boolean offer(long total, long bytes) {
    byte[] message = new byte[MessageHeader.BYTES + Offer.BYTES];
    message[1] = MessageHeader.OFFER;
    ByteBuffer.wrap(message, MessageHeader.BYTES, Offer.BYTES)
        .put(new Offered(0, total, 0, bytes, hostileAddress, Host.SHARED).write());
    return forge(message);
  }

  /** The hostile end sends a message. */
  boolean forge(byte... message) {
    return hostile != null && hostile.device.forge(message);
  }

  /**
   * Lets everything go on fairly until nothing moves any more: without the passing of much time,
   * unless receives are scarce.
   */
  void settle() {
    settle(true);
  }

  /** Lets everything go on but readers, who free no message that they take. */
  void settleWithoutFreeing() {
    settle(false);
  }

  private void settle(boolean frees) {
    hosts.forEach(each -> each.outOfMemory = false);
    int rounds = 0;
    boolean moved = true;
    while (moved) {
      moved = false;
      for (End end : ends) {
        if (end != hostile) {
          moved |= move(end);
          moved |= frees && end.user.free();
        }
      }
      if (!moved) {
        // A connection ends when all that is in flight has arrived.
        for (End end : ends) {
          moved |= end != hostile && end.goOnWithEnd();
        }
      }
      if (!moved && frees) {
        for (End end : ends) {
          // If a side has a wrong number of credits, both may say again and again what they read.
          moved |= end != hostile && end.timePasses() && !isOfLiar(end);
        }
      }
      if (!moved && limits.isScarce()) {
        // Then connections wait until others give back the credits that they do not use.
        moved = giveBack();
      }
      rounds++;
      assertThat(rounds).as(() -> "rounds without an end: " + ends).isLessThan(100_000);
      checkMemory();
    }
  }

  /** Returns whether one of the two ends of a connection does not follow the protocol. */
  private static boolean isOfLiar(End end) {
    return end.user.peerLies || end.peer().user.peerLies;
  }

  private static boolean move(End end) {
    boolean moved = end.flushAgain();
    moved |= end.goOnWithBuffer();
    moved |= end.device.execute();
    moved |= end.complete();
    moved |= end.deliver();
    moved |= end.supply();
    moved |= end.endExposure();
    moved |= end.user.tell();
    moved |= end.user.take();
    moved |= end.user.operations.resume();
    for (Sender each : end.user.senders()) {
      moved |= each.step();
    }
    return moved;
  }

  private boolean giveBack() {
    int before = posted();
    boolean moves = false;
    for (End end : ends) {
      // An end that got too many credits from a peer that lies gives some back again and again.
      moves |= end.giveBack() && !isOfLiar(end);
    }
    return moves || before != posted();
  }

  private int posted() {
    return hosts.stream().mapToInt(each -> each.posted.size()).sum();
  }

  /** Checks that no more memory is in use than the limits of the hosts allow. */
  private void checkMemory() {
    if (!isBounded) {
      return;
    }
    int connections = ends.size() / 2;
    for (Host host : hosts) {
      assertThat(host.largeBuffers.inUse())
          .as(() -> "bytes of long messages in use: " + ends)
          .isLessThanOrEqualTo(Limits.maxLarge(connections));
      assertThat(host.pool.inUse())
          .as(() -> "buffers in use: " + ends)
          .isLessThanOrEqualTo(limits.maxInUse(connections));
    }
  }

  /** Checks that all that was sent has arrived, and that no user waits. */
  void checkComplete() {
    for (End end : ends) {
      if (end != hostile && end.peer() != hostile) {
        checkComplete(end, end.peer());
      }
    }
  }

  private void checkComplete(End from, End to) {
    String state = from + "\n" + to;
    assertThat(from.session.lifecycle().failure()).as("failure of " + state).isNull();
    assertThat(from.isIdle()).as("deadlock: nothing moves, but\n" + state).isTrue();
    from.user.checkComplete(state);
    assertThat(from.session.openRequests()).as("requests without an answer: " + state).isZero();
    from.user.operations.checkUsesEnded(state);
    if (hostile == null) {
      assertThat(from.host.exposed()).as("exposed, although all was fetched: " + state).isEmpty();
    }
    assertThat(from.session.hasRoomForMessage()).as("room to send: " + state).isTrue();
  }

  /** Checks that where a connection has ended, no user waits for anything any more. */
  void checkEnded() {
    for (End end : ends) {
      if (end.hasEnded() && !end.user.peerLies && !end.peer().user.peerLies) {
        if (limits.isScarce() && end.session.lifecycle().isClosing() && !end.isDestroyed()) {
          // It waits until its time is over, because the peer has no receive for its credits.
          continue;
        }
        assertThat(end.isDestroyed())
            .as("a close waits: " + end + "\n" + end.peer())
            .isEqualTo(end.session.lifecycle().isClosing());
        assertThat(end.session.outstanding()).as("outstanding: " + end).isZero();
        end.user.checkAllEnded(end.toString());
        ConnectionException failure = end.session.lifecycle().failure();
        assertThat(failure == null ? null : failure.reason())
            .as("why it broke, although both sides follow the protocol: " + end)
            .isNotEqualTo(ConnectionException.Reason.PROTOCOL);
      }
    }
  }

  /** Ends all connections, and checks that everything has ended once and every buffer is back. */
  void checkEnd() {
    for (End end : ends) {
      end.stopDevice();
    }
    hostile = null;
    settle();
    for (End end : ends) {
      if (!end.isDestroyed()) {
        end.destroy();
      }
    }
    settle();
    for (End end : ends) {
      assertThat(end.session.outstanding()).as("outstanding: " + end).isZero();
      end.user.checkAllEnded(end.toString());
      end.user.operations.checkUsesEnded(end.toString());
    }
    for (Host host : hosts) {
      assertThat(host.pool.inUse())
          .as("buffers in use, besides those of posted receives: " + ends)
          .isEqualTo(host.posted.size());
      assertThat(host.supply.posted()).isEqualTo(host.posted.size());
      assertThat(host.largeBuffers.inUse()).as("bytes of long messages in use: " + ends).isZero();
      assertThat(host.exposed()).as("ranges that are still exposed: " + ends).isEmpty();
    }
  }
}
