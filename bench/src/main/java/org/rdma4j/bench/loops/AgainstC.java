package org.rdma4j.bench.loops;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.rdma4j.bench.standin.CallStyle;
import org.rdma4j.bench.standin.Queues;
import org.rdma4j.bench.standin.StandIn;

/**
 * A benchmark of the safe API. After each iteration the same loop runs in C, in the same process
 * and on the same queues, so that other load on the machine affects both.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 50, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 100, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 3, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public abstract class AgainstC {
  /** The number of operations in one call of a benchmark's method. */
  public static final int LOOP = 1024;

  private static final long MIN_NANOS_IN_C = TimeUnit.MILLISECONDS.toNanos(4);

  /** How posts and polls call C. */
  @Param({"CRITICAL", "PLAIN"})
  public CallStyle style = CallStyle.CRITICAL;

  private List<StandIn> standIns = List.of();
  private @Nullable LoopInC loop;
  private @Nullable LoopInC unmerged;

  /** The times of the same loop in C. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class InC {
    /** The nanoseconds of an operation. */
    public double nanosInC;

    /** The nanoseconds of an operation, compiled without joining small stores. */
    public double nanosInUnmergedC;

    private @Nullable AgainstC benchmark;

    /**
     * Sets the benchmark to compare with. JMH injects this object into benchmark methods only, so
     * each of them has to pass its own instance.
     */
    void compareWith(AgainstC benchmark) {
      this.benchmark = benchmark;
    }

    /** Runs the benchmark's loops in C. */
    @TearDown(Level.Iteration)
    public void run() {
      AgainstC running = requireNonNull(benchmark);
      nanosInC = nanosOf(requireNonNull(running.loop));
      nanosInUnmergedC = nanosOf(requireNonNull(running.unmerged));
    }

    /** Doubles the number of operations until a run is long enough, and returns the time of one. */
    private static double nanosOf(LoopInC loop) {
      long operations = LOOP;
      long nanos = loop.nanos(operations);
      while (nanos < MIN_NANOS_IN_C) {
        operations *= 2;
        nanos = loop.nanos(operations);
      }
      return (double) nanos / operations;
    }
  }

  /** Opens the device or devices. */
  @Setup
  public final void setUp() {
    standIns = open();
    loop = new LoopInC(LoopInC.OPTIMIZED, loopInC(), standIns);
    unmerged = new LoopInC(LoopInC.UNMERGED, loopInC(), standIns);
    use(standIns.get(0));
  }

  /** Closes all that was opened. */
  @TearDown
  public final void tearDown() {
    standIns.forEach(StandIn::close);
  }

  /** Opens what the loop uses: one queue pair, or several that the loop uses in turn. */
  List<StandIn> open() {
    return List.of(StandIn.open(StandIn.FAST, style, queues()));
  }

  /** Returns the functions that the loop posts and polls by. */
  Queues queues() {
    return Queues.PLAIN;
  }

  /** Prepares the loop to use the first of the queue pairs. */
  abstract void use(StandIn standIn);

  /** Returns the name of the function of {@code loops.c} that does the same. */
  abstract String loopInC();
}
