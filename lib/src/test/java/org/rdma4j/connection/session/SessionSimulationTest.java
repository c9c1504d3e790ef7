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

  /** Enough for the first credits, the protocol and an offer, and for a window that has grown. */
  private static final int PLACES = 12;

  /** Just enough for a connection to begin. */
  private static final int FEW_PLACES = 8;

  @Property(tries = TRIES)
  void allMessagesArriveOnceInOrderAndNobodyWaits(
      @ForAll @IntRange(max = 2047) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    Simulation simulation = new Simulation(seed, 1, PLACES);
    for (int step : steps) {
      simulation.step(step, Simulation.PEACEFUL);
    }
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Property(tries = TRIES)
  void connectionsThatShareBuffersDoNotHoldEachOtherUp(
      @ForAll @IntRange(max = 2047) int seed,
      @ForAll @IntRange(min = 2, max = 4) int connections,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    Simulation simulation = new Simulation(seed, connections, PLACES);
    for (int step : steps) {
      simulation.step(step, Simulation.PEACEFUL);
    }
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Property(tries = TRIES)
  void whateverEndsAConnectionEverythingEndsOnce(
      @ForAll @IntRange(max = 2047) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    Simulation simulation = new Simulation(seed, 1, FEW_PLACES);
    for (int step : steps) {
      simulation.step(step, Simulation.ENDING);
    }
    simulation.settle();
    simulation.checkEnd();
  }

  @Property(tries = TRIES)
  void aPeerThatLiesBreaksOnlyItsConnection(
      @ForAll @IntRange(max = 2047) int seed,
      @ForAll @Size(max = 300) List<@IntRange(max = MAX) Integer> steps) {
    Simulation simulation = new Simulation(seed, 2, FEW_PLACES);
    for (int step : steps) {
      simulation.step(step, Simulation.ALL);
    }
    simulation.settle();
    simulation.checkEnd();
  }
}
