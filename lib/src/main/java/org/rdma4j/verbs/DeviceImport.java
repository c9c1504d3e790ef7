package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeFailures;

/** Opens devices by file descriptors of others: {@code ibv_import_device}. */
final class DeviceImport {
  private DeviceImport() {}

  /**
   * Returns the context that belongs to a duplicate of the descriptor.
   *
   * <p>If the import fails, the provider may have closed the duplicate, or not: libmlx5 does if it
   * fails itself, libibverbs does not. So a duplicate is used whose number no other file gets
   * meanwhile, and one import is made at a time.
   */
  static synchronized MemorySegment context(int commandFileDescriptor) {
    int own = Libc.duplicateHigh(commandFileDescriptor);
    MemorySegment context = Calls.pointer(rdma_h.ibv_import_device$address(), own);
    if (context.address() == 0) {
      RdmaException failure =
          NativeFailures.failure(
              null, "ibv_import_device(descriptor " + commandFileDescriptor + ")", Errno.errno());
      if (Libc.isOpen(own)) {
        Libc.close(own);
      }
      throw failure;
    }
    return context;
  }
}
