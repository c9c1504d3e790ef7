package org.rdma4j.verbs;

import java.util.List;

/**
 * Says whether this process can use RDMA on this machine, and if not, why: the result of {@link
 * RdmaDevice#availability}.
 *
 * {@snippet :
 * RdmaAvailability rdma = RdmaDevice.availability();
 * if (!rdma.isAvailable()) {
 *   System.err.println(rdma.explanation());
 *   // RDMA is not available. This machine has no RDMA device. 'rdma link' shows the devices, ...
 * }
 * }
 *
 * @param status what was found
 * @param devices the names of the devices that this process can open and that have an active port.
 *     If there are any, the verbs can be used
 * @param explanation what was found, in words; if something is missing, also what to do
 * @see RdmaDevice#availability
 */
public record RdmaAvailability(Status status, List<String> devices, String explanation) {
  /** What a check of the availability can find. */
  public enum Status {
    /** The verbs and the connection manager can be used. */
    AVAILABLE,
    /**
     * The verbs can be used, but not the connection manager: the packages {@code org.rdma4j.cm} and
     * {@code org.rdma4j.connection} do not work, all other packages do.
     */
    NO_CONNECTION_MANAGER,
    /** This JVM was started without the option that allows rdma4j to call C. */
    NATIVE_ACCESS_DENIED,
    /** libibverbs or librdmacm cannot be loaded. */
    NO_LIBRARY,
    /** This machine has no RDMA device. */
    NO_DEVICE,
    /** There are devices, but this process cannot open any of them. */
    NO_ACCESS_TO_DEVICES,
    /** Devices can be opened, but none has an active port. */
    NO_ACTIVE_PORT,
    /** A call failed for another reason, which the explanation names. */
    FAILED
  }

  /** Makes the list of devices immutable. */
  public RdmaAvailability {
    devices = List.copyOf(devices);
  }

  /**
   * Returns whether everything works.
   *
   * @return whether the status is {@link Status#AVAILABLE}
   */
  public boolean isAvailable() {
    return status == Status.AVAILABLE;
  }

  /**
   * Returns the explanation.
   *
   * @return the {@link #explanation}
   */
  @Override
  public String toString() {
    return explanation;
  }
}
