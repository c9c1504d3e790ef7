package org.rdma4j.nio.handover;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * Whatever the order in which things happen on both ways between two ends, and whichever end ends
 * or lies: each byte arrives once and in order, an end is seen after all bytes, and no end waits
 * forever.
 */
final class HandoverSimulationTest {
  private static final int TRIES = 6000;
  private static final int PEACEFUL = 7;
  private static final int ENDING = 9;
  private static final int BREAKING = 11;
  private static final int LYING = 13;

  private SimulatedEnd client = new SimulatedEnd(true, (byte) 1);
  private SimulatedEnd server = new SimulatedEnd(false, (byte) 101);
  private boolean broken;
  private boolean lied;

  @Property(tries = TRIES)
  void allBytesArriveOnceAndInOrder(
      @ForAll boolean joined, @ForAll @Size(max = 120) List<@IntRange Integer> steps) {
    run(joined, steps, PEACEFUL);
    assertThat(server.read).as("%s, %s", client, server).isEqualTo(client.written);
    assertThat(client.read).as("%s, %s", client, server).isEqualTo(server.written);
  }

  @Property(tries = TRIES)
  void anEndComesAfterAllBytes(
      @ForAll boolean joined, @ForAll @Size(max = 120) List<@IntRange Integer> steps) {
    run(joined, steps, ENDING);
    checkEnd(client, server);
    checkEnd(server, client);
  }

  @Property(tries = TRIES)
  void aBrokenRdmaConnectionResetsOrIsForgotten(
      @ForAll boolean joined, @ForAll @Size(max = 120) List<@IntRange Integer> steps) {
    run(joined, steps, BREAKING);
    checkEnd(client, server);
    checkEnd(server, client);
  }

  @Property(tries = TRIES)
  void aPeerThatLiesIsReset(
      @ForAll boolean joined, @ForAll @Size(max = 120) List<@IntRange Integer> steps) {
    run(joined, steps, LYING);
    for (SimulatedEnd end : List.of(client, server)) {
      if (end.lies) {
        end.close();
        settle();
        assertThat(end.peer.isOver()).as("%s, %s", client, server).isTrue();
      }
    }
  }

  /** Both know each other's offset, and no end closes. */
  @Property(tries = TRIES)
  void aBrokenRdmaConnectionResumesWithoutALoss(
      @ForAll @Size(max = 120) List<@IntRange Integer> steps, @ForAll @IntRange int kept) {
    meetAndMove();
    client.most = Integer.MAX_VALUE;
    server.most = Integer.MAX_VALUE;
    for (int i = 0; i < steps.size(); i++) {
      stepToResume(steps.get(i), steps.size() / 2 - i, kept);
    }
    assertThatItResumes(kept);
  }

  private void assertThatItResumes(int kept) {
    breakLink(kept);
    settle();
    client.endOutput();
    server.endOutput();
    settle();
    for (SimulatedEnd end : List.of(client, server)) {
      assertThat(end.sawEnd).as("%s, %s", client, server).isTrue();
      assertThat(end.read).as("%s, %s", client, server).isEqualTo(end.peer.written);
    }
  }

  /** Both have joined, and neither knows yet where the other's output moves. */
  @Property(tries = TRIES)
  void aCutInTheMomentOfTheUpgradeResumesWithoutALoss(
      @ForAll @Size(max = 60) List<@IntRange Integer> steps,
      @ForAll @IntRange int kept,
      @ForAll boolean serverHasEnded) {
    meet();
    join();
    client.most = Integer.MAX_VALUE;
    server.most = Integer.MAX_VALUE;
    if (serverHasEnded) {
      server.endOutput();
    }
    for (int i = 0; i < steps.size(); i++) {
      int code = steps.get(i);
      if (Math.floorMod(code, 7) == 6) {
        (Math.floorMod(code, 2) == 0 ? client : server).moveOutput();
      } else {
        stepToResume(code, steps.size() / 2 - i, kept);
      }
    }
    assertThatItResumes(kept);
  }

  /** What it lies about costs itself bytes, or the connection: its peer reads no wrong byte. */
  @Property(tries = TRIES)
  void aPeerThatLiesInAResumeIsResetOrLosesBytesItself(
      @ForAll @Size(max = 120) List<@IntRange Integer> steps,
      @ForAll @IntRange(min = -50, max = 50) int lie) {
    meetAndMove();
    client.lieInResume(lie);
    for (int i = 0; i < steps.size(); i++) {
      stepToResume(steps.get(i), steps.size() / 2 - i, lie);
    }
    breakLink(lie);
    settle();
    long before = server.read;
    client.endOutput();
    settle();
    assertThat(server.isOver()).as("%s, %s", client, server).isTrue();
    if (server.sawEnd) {
      assertThat(server.read).as("%s, %s", client, server).isEqualTo(client.written);
    }
    assertThat(server.read).isGreaterThanOrEqualTo(before).isLessThanOrEqualTo(client.written);
  }

  private void meetAndMove() {
    meet();
    join();
    while (move()) {}
  }

  /** Lets something happen that a resume follows, and breaks the link in the middle. */
  private void stepToResume(int code, int untilBreak, int kept) {
    int rest = Math.floorDiv(code, 5);
    SimulatedEnd end = Math.floorMod(rest, 2) == 0 ? client : server;
    int amount = Math.floorMod(rest >> 1, 40) + 1;
    if (untilBreak == 0) {
      breakLink(kept);
    }
    switch (Math.floorMod(code, 5)) {
      case 0 -> end.write(amount);
      case 1 -> end.read(amount);
      case 2 -> end.arriveOverTcp(amount);
      case 3 -> end.arriveOverRdma();
      default -> end.resume();
    }
  }

  @Example
  void aClientThatHasGivenUpClaimsNothing() {
    meet();
    exchange();
    assertThat(client.connect()).isTrue();
    client.giveUp();
    server.endOutput();
    settle();
    assertThat(client.sawEnd).as("%s, %s", client, server).isTrue();
    assertThat(client.sawReset).isFalse();
  }

  private void meet() {
    client = new SimulatedEnd(true, (byte) 1);
    server = new SimulatedEnd(false, (byte) 101);
    client.peer = server;
    server.peer = client;
  }

  /**
   * Lets things happen.
   *
   * @param joined whether both ends have joined the RDMA connection before
   */
  private void run(boolean joined, List<Integer> steps, int kinds) {
    meet();
    broken = false;
    lied = false;
    if (joined) {
      join();
    }
    for (int step : steps) {
      step(step, kinds);
    }
    settle();
    for (SimulatedEnd end : List.of(client, server)) {
      if (!end.closed && !lied) {
        assertThat(end.handover.source())
            .as("%s, %s", client, server)
            .isNotEqualTo(Handover.Source.UNDECIDED);
      }
    }
  }

  /** Lets both ends exchange as much as a proof needs. */
  private void exchange() {
    for (SimulatedEnd end : List.of(client, server)) {
      end.write(10);
      end.peer.arriveOverTcp(10);
      end.peer.read(10);
    }
  }

  /** Lets both ends exchange something and join, and does not let their output move. */
  private void join() {
    exchange();
    client.connect();
    while (!client.joined || !server.joined) {
      client.arriveOverRdma();
      server.arriveOverRdma();
    }
  }

  /** Checks what one end has read of what the other has written. */
  private void checkEnd(SimulatedEnd reader, SimulatedEnd writer) {
    if (reader.sawEnd) {
      assertThat(reader.read).as("%s, %s", reader, writer).isEqualTo(writer.written);
      assertThat(writer.outputEnded).isTrue();
    } else if (!reader.closed && !reader.sawReset) {
      assertThat(reader.read).as("%s, %s", reader, writer).isEqualTo(writer.written);
      assertThat(writer.outputEnded).as("%s, %s", reader, writer).isFalse();
    }
    if (!broken) {
      assertThat(reader.sawReset).as("%s, %s", reader, writer).isFalse();
    }
  }

  private void step(int code, int kinds) {
    int kind = Math.floorMod(code, kinds);
    int rest = Math.floorDiv(code, kinds);
    SimulatedEnd end = Math.floorMod(rest, 2) == 0 ? client : server;
    int amount = Math.floorMod(rest >> 1, 40) + 1;
    switch (kind) {
      case 0 -> end.write(amount);
      case 1 -> end.read(amount);
      case 2 -> end.arriveOverTcp(amount);
      case 3 -> end.arriveOverRdma();
      case 4 -> client.connect();
      case 5 -> end.moveOutput();
      case 6 -> client.giveUp();
      case 7 -> end.endOutput();
      case 8 -> end.close();
      case 9 -> breakLink(amount);
      case 10 -> giveUp(end);
      case 11 -> {
        lied |= end.joined;
        end.lie(amount);
      }
      case 12 -> server.attack(amount);
      default -> throw new AssertionError(kind);
    }
  }

  private void giveUp(SimulatedEnd end) {
    // The client may have joined, and the server does not know. A client knows of the server.
    boolean unconfirmed = end.isUnconfirmed();
    broken |= end.giveUp() && unconfirmed;
  }

  /** Loses the last messages on both ways, and all that follow. */
  private void breakLink(int kept) {
    for (SimulatedEnd end : List.of(client, server)) {
      if (end.linkOpen) {
        broken = true;
        while (end.rdmaFlight.size() > Math.floorMod(kept, 4)) {
          end.rdmaFlight.removeLast();
        }
        end.rdmaFlight.add(SimulatedEnd.Mark.BROKEN);
      }
    }
    client.linkOpen = false;
    server.linkOpen = false;
  }

  /** Lets everything go on, until nothing moves any more. */
  private void settle() {
    while (move() || client.giveUp() || server.giveUp()) {}
  }

  private boolean move() {
    boolean moved = client.connect();
    for (SimulatedEnd end : List.of(client, server)) {
      moved |= end.arriveOverTcp(100);
      moved |= end.arriveOverRdma();
      moved |= end.moveOutput();
      moved |= end.resume();
      moved |= end.read(100);
    }
    return moved;
  }
}
