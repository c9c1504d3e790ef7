package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_ece;

/**
 * Options of enhanced connection establishment (ECE), vendor-specific features that both sides of a
 * connection agree on: {@code struct ibv_ece}. Each side sends the options of its queue pair to the
 * other, and sets the options that both support before the queue pair leaves INIT.
 *
 * @param vendorId the vendor that defines the options, as its IEEE OUI; 0 if none are offered
 * @param options the options, as the vendor defines them
 * @param compatibilityMask {@code comp_mask}: which version of the options this is
 * @see QueuePair#setEce
 */
public record Ece(int vendorId, int options, int compatibilityMask) {
  static Ece read(MemorySegment ece) {
    return new Ece(ibv_ece.vendor_id(ece), ibv_ece.options(ece), ibv_ece.comp_mask(ece));
  }

  void write(MemorySegment ece) {
    ibv_ece.vendor_id(ece, vendorId);
    ibv_ece.options(ece, options);
    ibv_ece.comp_mask(ece, compatibilityMask);
  }
}
