package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;
import java.util.Set;
import org.rdma4j.platform.PageMemory;

/** What memory can be registered, checked before C sees it. */
final class RegistrationRules {
  private RegistrationRules() {}

  static void checkAccess(Set<AccessFlag> access) {
    if (!access.contains(AccessFlag.LOCAL_WRITE)
        && (access.contains(AccessFlag.REMOTE_WRITE)
            || access.contains(AccessFlag.REMOTE_ATOMIC))) {
      throw new IllegalArgumentException(
          "access is " + access + ": REMOTE_WRITE and REMOTE_ATOMIC require LOCAL_WRITE too");
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

  static void checkWritable(MemorySegment segment, Set<AccessFlag> access) {
    if (segment.isReadOnly() && access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          "access is " + access + ": a read-only segment cannot have LOCAL_WRITE");
    }
  }

  /** Checks the address by which requests and peers are to name the memory, if it has one. */
  static void checkAddress(MemorySegment segment, OptionalLong address) {
    if (address.isEmpty()) {
      return;
    }
    long given = address.getAsLong();
    long inPage = PageMemory.pageSize() - 1;
    if ((given & inPage) != (segment.address() & inPage)) {
      throw new IllegalArgumentException(
          "remoteAddress is 0x%x, must be %d modulo the page size %d, as the memory is"
              .formatted(given, segment.address() & inPage, PageMemory.pageSize()));
    }
    if (Long.compareUnsigned(given, -segment.byteSize()) > 0) {
      throw new IllegalArgumentException(
          "remoteAddress is 0x%x, must be at most 0x%x, so that %d bytes have addresses"
              .formatted(given, -segment.byteSize(), segment.byteSize()));
    }
  }
}
