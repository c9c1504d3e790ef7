package org.rdma4j.cm;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** A kind of address: {@code rdma_addrinfo.ai_family}. */
public enum AddressFamily implements NativeConstant {
  /** IPv4: {@code AF_INET}. */
  IPV4(rdma_h.AF_INET()),
  /** IPv6: {@code AF_INET6}. */
  IPV6(rdma_h.AF_INET6()),
  /** InfiniBand, as an {@link IbAddress}: {@code AF_IB}. */
  INFINIBAND(rdma_h.AF_IB());

  private final int value;

  AddressFamily(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
