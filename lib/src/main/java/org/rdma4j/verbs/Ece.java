package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_ece;

/**
 * What both ends of a connection agree on beyond the standard, enhanced connection establishment:
 * {@code struct ibv_ece}. Each end gives the other what its queue pair offers, and sets what both
 * know before it leaves INIT.
 *
 * @param vendorId who defines the options, an OUI of IEEE; 0 where nothing is offered
 * @param options the options, as the vendor defines them
 * @param compatibilityMask {@code comp_mask}, which says how far the options can be read
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
