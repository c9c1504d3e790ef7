package org.rdma4j.inplace;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_parent_domain_init_attr;
import org.rdma4j.bindings.generated.ibv_td_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.platform.NativeFailures;

/**
 * A BlueFlame register that only one queue pair rings. Otherwise libmlx5 may share a register
 * between queue pairs, with a lock that others cannot see. A thread domain has a register of its
 * own, so this is a thread domain, and a parent domain of the protection domain with it, in which
 * the queue pair is created.
 */
public final class DedicatedRegister {
  private final String device;
  private final MemorySegment threads;
  private final MemorySegment domain;

  private DedicatedRegister(String device, MemorySegment threads, MemorySegment domain) {
    this.device = device;
    this.threads = threads;
    this.domain = domain;
  }

  /** Allocates a register for a queue pair of a protection domain, which is no parent domain. */
  public static DedicatedRegister allocate(
      String device, MemorySegment context, MemorySegment protectionDomain) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment threads =
          NativeFailures.created(
              device,
              "ibv_alloc_td for a doorbell register",
              Verbs.ibv_alloc_td(context, arena.allocate(ibv_td_init_attr.layout())));
      MemorySegment init = arena.allocate(ibv_parent_domain_init_attr.layout());
      ibv_parent_domain_init_attr.pd(init, protectionDomain);
      ibv_parent_domain_init_attr.td(init, threads);
      try {
        return new DedicatedRegister(
            device,
            threads,
            NativeFailures.created(
                device,
                "ibv_alloc_parent_domain for a doorbell register",
                Verbs.ibv_alloc_parent_domain(context, init)));
      } catch (RuntimeException failed) {
        NativeFailures.check(device, "ibv_dealloc_td", Verbs.ibv_dealloc_td(threads));
        throw failed;
      }
    }
  }

  /** Returns the domain to create the queue pair in. */
  public MemorySegment domain() {
    return domain;
  }

  /** Frees the register, after the queue pair was destroyed. */
  public void free() {
    try {
      NativeFailures.check(device, "ibv_dealloc_pd", rdma_h.ibv_dealloc_pd(domain));
    } finally {
      NativeFailures.check(device, "ibv_dealloc_td", Verbs.ibv_dealloc_td(threads));
    }
  }
}
