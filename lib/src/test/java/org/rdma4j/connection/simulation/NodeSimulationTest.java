package org.rdma4j.connection.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tag;
import net.jqwik.api.arbitraries.ListArbitrary;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ErrorNumber;
import org.rdma4j.LoggedFaults;
import org.rdma4j.RdmaException;
import org.rdma4j.Resources;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;

/**
 * Whatever two programs do with connections, and whatever their network, kernel and device do to
 * them: what was sent arrives once and in order if nothing has broken its connection, every future
 * completes, no call hangs, and nothing is left.
 */
@Tag("mlx5")
@Timeout(600) // for org.rdma4j.testing.TestWatch
final class NodeSimulationTest {
  private static final int TRIES = 500;

  /** Timeouts pass. */
  private static final int FAILING_TRIES = 200;

  private static final int MAX = 1 << 24;
  private static final int SEEDS = (1 << 10) - 1;
  private static final long LEFT_FOR = TimeUnit.SECONDS.toNanos(10);

  private static RdmaDevice device;

  /** By which the objects of this process are found. */
  @SuppressWarnings("UnusedVariable")
  private static ProtectionDomain domain;

  @BeforeContainer
  static void open() throws Exception {
    device = RdmaDevice.open(RdmaDevice.list().getFirst().name());
    domain = device.allocateProtectionDomain();
    openInLibraries();
  }

  @AfterContainer
  static void close() {
    device.close();
    // Other tests of this process connect.
    openInLibraries();
  }

  @Property(tries = TRIES)
  void whatWasSentArrivesIfNothingEnds(
      @ForAll @IntRange(max = SEEDS) int seed, @ForAll("steps") List<Integer> steps)
      throws Exception {
    run(seed, false, NodeStep.PEACEFUL, steps);
  }

  @Property(tries = TRIES)
  void whatWasSentBeforeACloseArrivesWhateverProgramsAndHandlersDo(
      @ForAll @IntRange(max = SEEDS) int seed, @ForAll("steps") List<Integer> steps)
      throws Exception {
    run(seed, true, NodeStep.ENDING, steps);
  }

  @Property(tries = FAILING_TRIES)
  void whateverNetworkAndKernelRefuseEverythingEndsOnceAndNothingIsLeft(
      @ForAll @IntRange(max = SEEDS) int seed, @ForAll("steps") List<Integer> steps)
      throws Exception {
    run(seed, true, NodeStep.FAILING, steps);
  }

  @Property(tries = FAILING_TRIES)
  void everythingEndsIfTheDeviceIsRemoved(
      @ForAll @IntRange(max = SEEDS) int seed, @ForAll("steps") List<Integer> steps)
      throws Exception {
    run(seed, true, NodeStep.REMOVING, steps);
  }

  /** Short lists are no more frequent than long ones, which reach more. */
  @Provide
  ListArbitrary<Integer> steps() {
    return Arbitraries.integers()
        .between(0, MAX)
        .list()
        .ofMaxSize(120)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  private static void run(int seed, boolean choosy, List<NodeStep> kinds, List<Integer> steps)
      throws Exception {
    boolean failing = kinds.contains(NodeStep.REFUSE_CALLS);
    if (kinds.contains(NodeStep.REMOVE_DEVICE)) {
      openInLibraries();
    }
    List<String> before = held();
    List<Throwable> faults = new CopyOnWriteArrayList<>();
    LoggedFaults logged =
        new LoggedFaults(true, (what, thrown) -> faults.add(new AssertionError(what, thrown)));
    try {
      NodeSimulation simulation = new NodeSimulation(seed, choosy, failing);
      try {
        for (int step : steps) {
          NodeStep.make(kinds, simulation, step);
        }
      } finally {
        simulation.finish();
      }
      awaitNothingBut(before);
    } finally {
      logged.close();
    }
    if (failing) {
      faults.removeIf(NodeSimulationTest::isRefusal);
    }
    if (!faults.isEmpty()) {
      throw NodeSimulation.failed("logged: " + faults, faults);
    }
  }

  /**
   * Returns whether the kernel has refused to read events, or memory for a message, which breaks
   * the connection.
   */
  private static boolean isRefusal(Throwable logged) {
    return logged.getMessage().contains("can no longer be")
        || (logged.getMessage().contains("a step has failed")
            && logged.getCause() instanceof RdmaException refused
            && refused.errno() == ErrorNumber.ENOMEM.value());
  }

  /** Lets librdmacm open the device again, which it keeps for the process until it is removed. */
  private static void openInLibraries() {
    new NodeSimulation(0, false, false).finish();
  }

  /** Some closes go on in other threads. */
  private static void awaitNothingBut(List<String> before)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + LEFT_FOR;
    while (System.nanoTime() - end < 0 && !left(before).isEmpty()) {
      Thread.sleep(1);
    }
    assertThat(left(before)).isEmpty();
  }

  /** Returns what this process holds more than it did: less if librdmacm lets go of its device. */
  private static List<String> left(List<String> before) throws IOException, InterruptedException {
    List<String> left = held();
    before.forEach(left::remove);
    return left;
  }

  /** Returns what this process holds, but for files, which the JVM opens when it wants to. */
  private static List<String> held() throws IOException, InterruptedException {
    Resources all = Resources.now();
    List<String> held = new ArrayList<>(all.objects());
    all.descriptors().stream().filter(each -> each.contains(":")).forEach(held::add);
    held.replaceAll(each -> each.replaceFirst("(socket|pipe):.*", "$1"));
    return held;
  }
}
