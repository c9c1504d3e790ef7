package org.rdma4j.bench.loops;

import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.ProtectionDomain;

/**
 * The registration of a region, and its close. The stand-in device pins no pages, so a difference
 * between lengths comes from the safe API and from mapping the memory, never from pinning it.
 */
@SuppressWarnings("NullAway.Init") // set by use
public class Registering extends AgainstC {
  /** The size of the region in bytes. */
  @Param({"4096", "1048576"})
  public long bytes;

  /**
   * Whether the caller provides the memory; otherwise it is allocated and freed with the region.
   */
  @Param({"true", "false"})
  public boolean callerMemory;

  private ProtectionDomain domain;
  private MemoryRegionConfig config;

  @Override
  List<StandIn> open() {
    return List.of(StandIn.open(StandIn.FAST, style, queues(), StandIn.DEPTH, bytes));
  }

  @Override
  void use(StandIn standIn) {
    domain = standIn.domain();
    config =
        (callerMemory
                ? MemoryRegionConfig.of(standIn.region().segment())
                : MemoryRegionConfig.allocate(bytes))
            .access(AccessFlag.LOCAL_WRITE);
  }

  @Override
  String loopInC() {
    return callerMemory ? "register_memory" : "allocate_and_register";
  }

  /** The loop in Java. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long register(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      try (MemoryRegion region = domain.register(config)) {
        sum += region.localKey();
      }
    }
    return sum;
  }
}
