package org.rdma4j.bench;

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
import org.rdma4j.verbs.CallStyle;

/**
 * A benchmark of the safe layer. After each iteration the same loop runs in C, in the same process
 * and on the same queues, so that what else the machine does falls on both.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 50, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 100, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public abstract class AgainstC {
  /** How often a benchmark's method does what it measures. */
  static final int LOOP = 1024;

  private static final long MIN_NANOS_IN_C = TimeUnit.MILLISECONDS.toNanos(4);

  /** How posts and polls are called. */
  @Param({"CRITICAL", "PLAIN"})
  public CallStyle style = CallStyle.CRITICAL;

  private List<StandIn> standIns = List.of();
  private @Nullable LoopInC loop;
  private @Nullable LoopInC unmerged;

  /** What the same loop took in C. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class InC {
    /** Nanoseconds for each operation. */
    public double nanosInC;

    /** The same where the compiler did not join small stores. */
    public double nanosInUnmergedC;

    private @Nullable AgainstC benchmark;

    /** JMH injects a counter into benchmarks only, so that it is they who tell whose loop it is. */
    void of(AgainstC benchmark) {
      this.benchmark = benchmark;
    }

    /** Runs the loops. */
    @TearDown(Level.Iteration)
    public void run() {
      AgainstC running = requireNonNull(benchmark);
      nanosInC = nanosOf(requireNonNull(running.loop));
      nanosInUnmergedC = nanosOf(requireNonNull(running.unmerged));
    }

    /** What was counted in a run that was long enough, of some that are each twice as long. */
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

  /** Opens the device. */
  @Setup
  public final void setUp() {
    standIns = open();
    loop = new LoopInC(LoopInC.OPTIMIZED, loopInC(), standIns);
    unmerged = new LoopInC(LoopInC.UNMERGED, loopInC(), standIns);
    use(standIns.get(0));
  }

  /** Closes it. */
  @TearDown
  public final void tearDown() {
    standIns.forEach(StandIn::close);
  }

  /** What it is about: a device by its first, others of it or of other devices. */
  List<StandIn> open() {
    return List.of(StandIn.open(StandIn.FAST, style, queues()));
  }

  /** Which queues it is about. */
  Queues queues() {
    return Queues.PLAIN;
  }

  abstract void use(StandIn standIn);

  /** The name of the function that does the same. */
  abstract String loopInC();
}
