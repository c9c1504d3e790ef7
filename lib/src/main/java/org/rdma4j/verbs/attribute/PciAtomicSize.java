package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A length of the operands of atomic operations over PCI: {@code enum ibv_pci_atomic_op_size}.
 *
 * @see PciAtomicCapabilities
 */
public enum PciAtomicSize implements NativeConstant {
  /** 4 bytes: {@code IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP}. */
  BYTES_4(rdma_h.IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP()),
  /** 8 bytes: {@code IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP}. */
  BYTES_8(rdma_h.IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP()),
  /** 16 bytes: {@code IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP}. */
  BYTES_16(rdma_h.IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP());

  private final int value;

  PciAtomicSize(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
