package org.rdma4j.connection.session;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * Whatever the order in which things happen between two sessions, and whatever a peer does: no
 * message is lost, no two sides wait for each other, everything ends once, and no buffer is lost.
 */
final class SessionSimulationTest {
  private static final int TRIES = 3000;
  private static final int MAX = 1 << 24;
  private static final int SEEDS = (1 << 16) - 1;

  /** Enough for the first credits, the protocol and an offer, and for a window that has grown. */
  private static final int PLACES = 12;

  /** Just enough for a connection to begin. */
  private static final int FEW_PLACES = 8;

  @Property(tries = TRIES)
  void allMessagesArriveOnceInOrderAndNobodyWaits(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    goesOn(Simulation.of(Limits.scarce(seed, 1, PLACES), 1), steps, Step.PEACEFUL);
  }

  @Property(tries = TRIES)
  void connectionsThatShareBuffersDoNotHoldEachOtherUp(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @IntRange(min = 2, max = 4) int connections,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    Limits limits = Limits.scarce(seed, connections, PLACES);
    goesOn(Simulation.of(limits, connections), steps, Step.PEACEFUL);
  }

  @Property(tries = TRIES)
  void whateverEndsAConnectionEverythingEndsOnce(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    ends(Simulation.of(Limits.scarce(seed, 1, FEW_PLACES), 1), steps, Step.ENDING);
  }

  @Property(tries = TRIES)
  void aPeerThatLiesBreaksOnlyItsConnection(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    ends(Simulation.of(Limits.scarce(seed, 2, FEW_PLACES), 2), steps, Step.LYING);
  }

  @Property(tries = TRIES)
  void operationsBeginInTheOrderOfTheCallsAndEndOnce(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    goesOn(Simulation.of(Limits.scarce(seed, 1, PLACES), 1), steps, Step.OPERATING);
  }

  @Property(tries = TRIES)
  void whateverEndsAConnectionItsOperationsEndOnceWithAReason(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    ends(Simulation.of(Limits.scarce(seed, 1, FEW_PLACES), 1), steps, Step.ENDING_OPERATIONS);
  }

  @Property(tries = TRIES)
  void sidesThatFloodEachOtherDoNotWaitForEachOther(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @IntRange(min = 1, max = 3) int connections,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    goesOn(Simulation.of(Limits.ofNode(seed), connections), steps, Step.FLOODING);
  }

  @Property(tries = 100)
  void aFloodLeavesBuffersToSendTheAnswers(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @IntRange(min = 1, max = 5) int connections,
      @ForAll @Size(max = 12) List<@IntRange(max = 999) Integer> floods) {
    Simulation simulation = Simulation.of(Limits.ofNode(seed), connections);
    for (int flood : floods) {
      simulation.flood(flood % (2 * connections), flood / 5);
      simulation.checkComplete();
    }
    simulation.checkEnd();
  }

  @Property(tries = 300)
  void whoHoldsMessagesGetsNoMoreOfThemThanTheLimitsAllow(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @Size(max = 50) List<@IntRange(max = Limits.MAX_MESSAGE) Integer> lengths) {
    Simulation simulation = Simulation.of(Limits.ofNode(seed), 1);
    for (int length : lengths) {
      simulation.end(0).user.send(length);
    }
    simulation.settleWithoutFreeing();
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Property(tries = TRIES)
  void whateverEndsAFloodNoThreadWaitsAnyMore(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    ends(Simulation.of(Limits.ofNode(seed), 1), steps, Step.ENDING_FLOODS);
  }

  @Property(tries = TRIES)
  void aHostilePeerHoldsUpNoOtherConnectionOfTheNode(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @IntRange(min = 1, max = 3) int others,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    goesOn(Simulation.withHostile(Limits.ofNode(seed), others), steps, Step.HOSTILE);
  }

  @Property(tries = TRIES)
  void whateverAPeerSendsTheNodeTakesNoMoreMemoryThanItsLimitsAllow(
      @ForAll @IntRange(max = SEEDS) int seed,
      @ForAll @IntRange(min = 1, max = 3) int others,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    goesOn(Simulation.withHostile(Limits.ofNode(seed), others), steps, Step.FUZZING);
  }

  private static void goesOn(Simulation simulation, List<Integer> steps, List<Step> possible) {
    simulation.run(steps, possible);
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  private static void ends(Simulation simulation, List<Integer> steps, List<Step> possible) {
    simulation.run(steps, possible);
    simulation.settle();
    simulation.checkEnded();
    simulation.checkEnd();
  }
}
