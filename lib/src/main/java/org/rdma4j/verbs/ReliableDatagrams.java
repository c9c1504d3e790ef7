package org.rdma4j.verbs;

import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ErrorNumber;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.ExtendedQueuePair;
import org.rdma4j.datapath.ReliableDatagramPosting;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.attribute.EfaAttributes;
import org.rdma4j.verbs.attribute.EfaCapability;

/** What an EFA device allows queue pairs of type SCALABLE_RELIABLE_DATAGRAM. */
final class ReliableDatagrams {
  private static final Set<SendOperation> OPERATIONS =
      EnumSet.of(
          SendOperation.SEND,
          SendOperation.SEND_WITH_IMMEDIATE,
          SendOperation.READ,
          SendOperation.WRITE,
          SendOperation.WRITE_WITH_IMMEDIATE);

  private ReliableDatagrams() {}

  /**
   * Checks a configuration.
   *
   * @throws IllegalArgumentException if the device does not have the capacity, or a setting does
   *     not apply to the type
   * @throws UnsupportedByDeviceException if the device is not one of EFA, or does not have an
   *     operation
   */
  static void check(QueuePairConfig config, RdmaDevice device) {
    EfaAttributes limits = device.efaAttributes();
    forbid("sharedReceiveQueue", config.sharedReceiveQueue() != null);
    forbid("flags", !config.flags().isEmpty());
    forbid("segmentHeaderBytes", config.segmentHeaderBytes() != 0);
    Set<SendOperation> operations = config.sendOperations();
    if (operations.isEmpty() || !OPERATIONS.containsAll(operations)) {
      throw new IllegalArgumentException(
          "sendOperations is "
              + operations
              + ", must be some of "
              + OPERATIONS
              + " for SCALABLE_RELIABLE_DATAGRAM; call extended");
    }
    if (operations.contains(SendOperation.READ)) {
      require(EfaCapability.READ, device.info(), limits);
    }
    if (operations.contains(SendOperation.WRITE)
        || operations.contains(SendOperation.WRITE_WITH_IMMEDIATE)) {
      require(EfaCapability.WRITE, device.info(), limits);
    }
    Range.check("sendDepth", config.sendDepth(), 0, limits.maxSends());
    Range.check("receiveDepth", config.receiveDepth(), 0, limits.maxReceives());
    Range.check("sendSges", config.sendSges(), 0, limits.maxSendSges());
    Range.check("receiveSges", config.receiveSges(), 0, limits.maxReceiveSges());
    Range.check("inlineBytes", config.inlineBytes(), 0, limits.maxInlineBytes());
  }

  private static void forbid(String name, boolean given) {
    if (given) {
      throw new IllegalArgumentException(
          name + " is set, must not be set for SCALABLE_RELIABLE_DATAGRAM");
    }
  }

  /** Throws UnsupportedByDeviceException if the device does not have a capability. */
  static void require(EfaCapability capability, RdmaDevice device) {
    require(capability, device.info(), device.efaAttributes());
  }

  private static void require(EfaCapability capability, DeviceInfo device, EfaAttributes has) {
    if (!has.capabilities().contains(capability)) {
      throw new UnsupportedByDeviceException(
          "EFA with " + capability,
          ErrorNumber.EOPNOTSUPP.value(),
          device.name(),
          "The device "
              + device.name()
              + ", or the installed libefa, has the capabilities "
              + has.capabilities()
              + " only; a newer instance type, kernel driver or rdma-core may have "
              + capability);
    }
  }

  /** Returns what checks the requests of a queue pair and posts them. */
  static ChainPosting posting(
      QueuePairConfig config, RdmaDevice device, ExtendedQueuePair extended) {
    return new ReliableDatagramPosting(
        extended,
        config.signalAll(),
        // All ports have the same; the queue pair has none yet.
        device.port(1).attributes().maxMessageSize(),
        device.efaAttributes().maxTransferBytes());
  }
}
