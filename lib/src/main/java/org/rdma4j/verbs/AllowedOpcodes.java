package org.rdma4j.verbs;

import java.util.Collections;
import java.util.Set;
import org.rdma4j.ErrorNumber;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.datapath.SendLayout;
import org.rdma4j.verbs.attribute.DeviceCapability;

/**
 * The opcodes that the type of a queue pair and its operations allow, with a bit for each opcode.
 */
final class AllowedOpcodes {
  private AllowedOpcodes() {}

  /**
   * Refuses flushes on a device without them. The provider may accept them although the kernel is
   * too old, so only the capabilities of the device show it.
   */
  static void check(Set<SendOperation> operations, RdmaDevice device) {
    if (operations.contains(SendOperation.FLUSH)
        && Collections.disjoint(
            device.extendedAttributes().capabilities(),
            Set.of(DeviceCapability.FLUSH_GLOBAL, DeviceCapability.FLUSH_PERSISTENT))) {
      throw new UnsupportedByDeviceException(
          "ibv_create_qp_ex with FLUSH", ErrorNumber.EOPNOTSUPP.value(), device.info().name());
    }
  }

  static long of(QueuePair queuePair) {
    long allowed = of(queuePair.type(), queuePair.segmentHeaderBytes() > 0);
    Set<SendOperation> operations = queuePair.sendOperations();
    if (operations.isEmpty()) {
      if (queuePair.isInPlace()) {
        allowed &= ~(1L << SendLayout.BIND_MW | 1L << SendLayout.LOCAL_INV);
      }
      // Struct ibv_send_wr has no fields for an atomic write or a flush.
      return allowed & ~(1L << SendLayout.ATOMIC_WRITE | 1L << SendLayout.FLUSH);
    }
    long requested = 0;
    for (SendOperation operation : operations) {
      requested |= 1L << opcode(operation);
    }
    return requested & allowed;
  }

  /** Returns whether a window can be bound through a queue pair of a type. */
  static boolean canBind(QueuePairType type) {
    return (of(type, false) & 1L << SendLayout.BIND_MW) != 0;
  }

  /** Returns the opcode of the requests that an operation allows. */
  static int opcode(SendOperation operation) {
    return switch (operation) {
      case WRITE -> SendLayout.RDMA_WRITE;
      case WRITE_WITH_IMMEDIATE -> SendLayout.RDMA_WRITE_WITH_IMM;
      case SEND -> SendLayout.SEND;
      case SEND_WITH_IMMEDIATE -> SendLayout.SEND_WITH_IMM;
      case READ -> SendLayout.RDMA_READ;
      case COMPARE_AND_SWAP -> SendLayout.COMPARE_AND_SWAP;
      case FETCH_AND_ADD -> SendLayout.FETCH_AND_ADD;
      case INVALIDATE -> SendLayout.LOCAL_INV;
      case BIND_MEMORY_WINDOW -> SendLayout.BIND_MW;
      case SEND_WITH_INVALIDATE -> SendLayout.SEND_WITH_INV;
      case SEGMENTED_SEND -> SendLayout.TSO;
      case ATOMIC_WRITE -> SendLayout.ATOMIC_WRITE;
      case FLUSH -> SendLayout.FLUSH;
    };
  }

  private static long of(QueuePairType type, boolean segmented) {
    long sends = 1L << SendLayout.SEND | 1L << SendLayout.SEND_WITH_IMM;
    long unreliable =
        sends
            | 1L << SendLayout.SEND_WITH_INV
            | 1L << SendLayout.RDMA_WRITE
            | 1L << SendLayout.RDMA_WRITE_WITH_IMM
            | 1L << SendLayout.LOCAL_INV
            | 1L << SendLayout.BIND_MW;
    long reliable =
        unreliable
            | 1L << SendLayout.RDMA_READ
            | 1L << SendLayout.COMPARE_AND_SWAP
            | 1L << SendLayout.FETCH_AND_ADD
            | 1L << SendLayout.ATOMIC_WRITE
            | 1L << SendLayout.FLUSH;
    long segments = segmented ? 1L << SendLayout.TSO : 0;
    return switch (type) {
      case RELIABLE_CONNECTION, XRC_SEND -> reliable;
      case UNRELIABLE_CONNECTION -> unreliable;
      case UNRELIABLE_DATAGRAM -> sends | segments;
      case RAW_PACKET -> 1L << SendLayout.SEND | segments;
      case SCALABLE_RELIABLE_DATAGRAM ->
          sends
              | 1L << SendLayout.RDMA_READ
              | 1L << SendLayout.RDMA_WRITE
              | 1L << SendLayout.RDMA_WRITE_WITH_IMM;
      case XRC_RECEIVE -> 0;
    };
  }
}
