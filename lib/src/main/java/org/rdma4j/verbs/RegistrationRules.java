package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;
import java.util.Set;
import org.rdma4j.platform.PageMemory;

/** The checks of a registration that are done before C sees the arguments. */
final class RegistrationRules {
  private RegistrationRules() {}

  static void checkAccess(Set<AccessFlag> access) {
    if (!access.contains(AccessFlag.LOCAL_WRITE)
        && (access.contains(AccessFlag.REMOTE_WRITE)
            || access.contains(AccessFlag.REMOTE_ATOMIC))) {
      throw new IllegalArgumentException(
          "access is " + access + ", must contain LOCAL_WRITE with REMOTE_WRITE or REMOTE_ATOMIC");
    }
  }

  static void checkLength(RdmaDevice device, long bytes) {
    long max = device.limits().maxMemoryRegionSize();
    if (bytes <= 0 || Long.compareUnsigned(bytes, max) > 0) {
      throw new IllegalArgumentException(
          "bytes is "
              + bytes
              + ", must be from 1 to "
              + Long.toUnsignedString(max)
              + " on "
              + device.info().name());
    }
  }

  /** Checks a length before it is known which device will register the memory. */
  static void checkPositive(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("bytes is " + bytes + ", must be at least 1");
    }
  }

  static void checkMemory(MemorySegment segment, Set<AccessFlag> access) {
    if (segment.isReadOnly() && access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          "access is " + access + ", must not contain LOCAL_WRITE for a read-only segment");
    }
    // Soft-RoCE of Linux 7.3 writes what belongs into the middle of a page to its beginning, which
    // must not be memory of somebody else.
    if (access.contains(AccessFlag.ON_DEMAND) && segment.address() % PageMemory.pageSize() != 0) {
      throw new IllegalArgumentException(
          "access is %s, must not contain ON_DEMAND for memory at 0x%x, which is not the beginning of a page of %d bytes"
              .formatted(access, segment.address(), PageMemory.pageSize()));
    }
  }

  /**
   * Checks the address that requests and peers are to use for the memory, if there is one.
   *
   * @param what what has the position, for the message
   * @param position the address of the memory, or its offset in a DMA buffer
   */
  static void checkAddress(OptionalLong address, String what, long position, long bytes) {
    if (address.isEmpty()) {
      return;
    }
    long given = address.getAsLong();
    long inPage = PageMemory.pageSize() - 1;
    if ((given & inPage) != (position & inPage)) {
      throw new IllegalArgumentException(
          "remoteAddress is 0x%x, must be %d modulo the page size %d, as %s is"
              .formatted(given, position & inPage, PageMemory.pageSize(), what));
    }
    if (Long.compareUnsigned(given, -bytes) > 0) {
      throw new IllegalArgumentException(
          "remoteAddress is 0x%x, must be at most 0x%x: %d bytes must not wrap around to address 0"
              .formatted(given, -bytes, bytes));
    }
  }
}
