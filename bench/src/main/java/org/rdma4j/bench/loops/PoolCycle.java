package org.rdma4j.bench.loops;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.rdma4j.bench.standin.CallStyle;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.memory.SlabPool;

/** Taking a slab from a pool of registered memory and giving it back. C has no counterpart. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 50, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 100, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
@SuppressWarnings("NullAway.Init") // set by use
public class PoolCycle {
  private static final int SLABS = 1024;

  private StandIn standIn;
  private SlabPool pool;

  /** Opens the device. */
  @Setup
  public void setUp() {
    standIn = StandIn.open(StandIn.FAST, CallStyle.CRITICAL);
    pool = standIn.pool(SLABS, StandIn.MESSAGE);
  }

  /** Closes the device. */
  @TearDown
  public void tearDown() {
    standIn.close();
  }

  /** The loop; an operation takes one slab and gives it back. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(AgainstC.LOOP)
  public long acquireAndRelease() {
    long sum = 0;
    for (int i = 0; i < AgainstC.LOOP; i++) {
      long ticket = pool.acquire().ticket();
      sum += ticket;
      pool.release(ticket);
    }
    return sum;
  }
}
