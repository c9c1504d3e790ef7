package org.rdma4j.bindings.efa;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.Library;
import org.rdma4j.bindings.efa.generated.efa_h;
import org.rdma4j.bindings.efa.generated.efadv_device_attr;

/** Whether the functions of {@code efadv.h} can be used. */
public final class Efa {
  /** The provider of EFA devices, whose functions these are. Programs may do without it. */
  public static final Library LIBRARY =
      new Library("libefa.so.1", "ibverbs-providers", "libibverbs", "libefa1");

  private Efa() {}

  /**
   * Returns whether the functions can be used with a device: {@code efadv_query_device}.
   *
   * @param context the {@code struct ibv_context *} of the open device; C has no function that
   *     needs only the device
   * @return true if it is an EFA device; false for another one, or if libefa is not installed
   * @throws IllegalCallerException if the JVM denies this module native access
   */
  public static boolean isSupported(MemorySegment context) {
    if (!LIBRARY.isInstalled()) {
      return false;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(efadv_device_attr.layout());
      return efa_h.efadv_query_device(context, attributes, (int) attributes.byteSize()) == 0;
    }
  }
}
