package org.rdma4j.tools.doctor;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * A driver of RDMA devices.
 *
 * @param bus the kernel's driver of the adapter, as sysfs names it; empty for a software device
 * @param module the kernel module that makes an RDMA device of the adapter
 * @param provider the library of libibverbs for it, as in {@code lib<provider>-rdmav34.so}
 * @param always whether every adapter of that driver can do RDMA
 */
record Driver(String bus, String module, String provider, boolean always) {
  static final Driver RXE = new Driver("", "rdma_rxe", "rxe", true);
  static final Driver SIW = new Driver("", "siw", "siw", true);

  private static Stream<Driver> adapters() {
    return Stream.of(
        new Driver("mlx5_core", "mlx5_ib", "mlx5", true),
        new Driver("mlx4_core", "mlx4_ib", "mlx4", true),
        new Driver("ib_mthca", "ib_mthca", "mthca", true),
        new Driver("ib_qib", "ib_qib", "ipathverbs", true),
        new Driver("hfi1", "hfi1", "hfi1verbs", true),
        new Driver("efa", "efa", "efa", true),
        new Driver("erdma", "erdma", "erdma", true),
        new Driver("vmw_pvrdma", "vmw_pvrdma", "vmw_pvrdma", true),
        new Driver("bnxt_en", "bnxt_re", "bnxt_re", false),
        new Driver("ice", "irdma", "irdma", false),
        new Driver("i40e", "irdma", "irdma", false),
        new Driver("cxgb4", "iw_cxgb4", "cxgb4", false),
        new Driver("qede", "qedr", "qedr", false),
        new Driver("hns3", "hns_roce_hw_v2", "hns", false),
        new Driver("mana", "mana_ib", "mana", false));
  }

  /** Returns the driver of an adapter. */
  static Optional<Driver> ofAdapter(String bus) {
    return adapters().filter(driver -> driver.bus.equals(bus)).findFirst();
  }
}
