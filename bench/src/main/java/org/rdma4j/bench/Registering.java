package org.rdma4j.bench;

import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.ProtectionDomain;

/**
 * A region that is registered and closed. The stand-in pins no pages, so that length costs nothing
 * there but what the safe layer makes of it.
 */
@SuppressWarnings("NullAway.Init") // the set-up
public class Registering extends AgainstC {
  /** Bytes of a region. */
  @Param({"4096", "1048576"})
  public long bytes;

  /** Whether its memory is the caller's, or allocated and freed with it. */
  @Param({"true", "false"})
  public boolean callers;

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
        (callers
                ? MemoryRegionConfig.of(standIn.region().segment())
                : MemoryRegionConfig.allocate(bytes))
            .access(AccessFlag.LOCAL_WRITE);
  }

  @Override
  String loopInC() {
    return callers ? "register_memory" : "allocate_and_register";
  }

  /** What Java takes. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long register(InC inC) {
    inC.of(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      try (MemoryRegion region = domain.register(config)) {
        sum += region.localKey();
      }
    }
    return sum;
  }
}
