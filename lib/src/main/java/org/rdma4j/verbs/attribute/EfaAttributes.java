package org.rdma4j.verbs.attribute;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.platform.NativeConstants;

/**
 * What an EFA device can do: {@code struct efadv_device_attr}.
 *
 * @param maxSends the maximum number of outstanding sends of a queue pair
 * @param maxReceives the maximum number of outstanding receives of a queue pair whose receives have
 *     one piece
 * @param maxSendSges the maximum number of pieces (scatter/gather elements) of a send; a read or
 *     write has one
 * @param maxReceiveSges the maximum number of pieces (scatter/gather elements) of a receive
 * @param maxInlineBytes the maximum number of bytes that can be copied into a request
 * @param maxTransferBytes the maximum length of a read or write in bytes
 * @param capabilities what the device can do beyond that, as far as the installed libefa knows it
 * @see org.rdma4j.verbs.RdmaDevice#efaAttributes
 */
public record EfaAttributes(
    int maxSends,
    int maxReceives,
    int maxSendSges,
    int maxReceiveSges,
    int maxInlineBytes,
    long maxTransferBytes,
    Set<EfaCapability> capabilities) {
  /** Copies the set. */
  public EfaAttributes {
    capabilities = Set.copyOf(capabilities);
  }

  /**
   * Reads {@code struct efadv_device_attr}.
   *
   * @param attributes native memory that holds the struct
   * @return the attributes
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public static EfaAttributes read(MemorySegment attributes) {
    return new EfaAttributes(
        attributes.get(JAVA_INT, 8),
        attributes.get(JAVA_INT, 12),
        Short.toUnsignedInt(attributes.get(JAVA_SHORT, 16)),
        Short.toUnsignedInt(attributes.get(JAVA_SHORT, 18)),
        // The field behind it replaces this one, and is 0 with a libefa that does not have it.
        Math.max(
            Short.toUnsignedInt(attributes.get(JAVA_SHORT, 20)),
            Short.toUnsignedInt(attributes.get(JAVA_SHORT, 22))),
        Integer.toUnsignedLong(attributes.get(JAVA_INT, 28)),
        NativeConstants.flags(EfaCapability.class, attributes.get(JAVA_INT, 24)));
  }
}
