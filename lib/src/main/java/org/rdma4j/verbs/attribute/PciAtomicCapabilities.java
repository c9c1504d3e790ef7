package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_pci_atomic_caps;
import org.rdma4j.platform.NativeConstants;

/**
 * The atomic operations that the device executes over PCI, which are atomic to the CPU too: {@code
 * struct ibv_pci_atomic_caps}.
 *
 * @param fetchAndAdd the operand sizes of fetch-and-add
 * @param swap the operand sizes of swap
 * @param compareAndSwap the operand sizes of compare-and-swap
 * @see ExtendedDeviceAttributes
 */
public record PciAtomicCapabilities(
    Set<PciAtomicSize> fetchAndAdd, Set<PciAtomicSize> swap, Set<PciAtomicSize> compareAndSwap) {
  static PciAtomicCapabilities read(MemorySegment caps) {
    return new PciAtomicCapabilities(
        sizes(ibv_pci_atomic_caps.fetch_add(caps)),
        sizes(ibv_pci_atomic_caps.swap(caps)),
        sizes(ibv_pci_atomic_caps.compare_swap(caps)));
  }

  private static Set<PciAtomicSize> sizes(short mask) {
    return NativeConstants.flags(PciAtomicSize.class, mask);
  }
}
