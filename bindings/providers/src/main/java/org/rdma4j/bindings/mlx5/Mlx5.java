package org.rdma4j.bindings.mlx5;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.Library;
import org.rdma4j.bindings.mlx5.generated.mlx5_h;

/** Whether the functions of {@code mlx5dv.h} can be used. */
public final class Mlx5 {
  /** The provider of mlx5 devices, whose functions these are. Programs may do without it. */
  public static final Library LIBRARY =
      new Library("libmlx5.so.1", "ibverbs-providers", "libibverbs", "libmlx5-1");

  private Mlx5() {}

  /**
   * Returns whether the functions can be used with a device: {@code mlx5dv_is_supported}.
   *
   * @param device a {@code struct ibv_device *}
   * @return true if it is an mlx5 device; false for another one, or if libmlx5 is not installed
   * @throws IllegalCallerException if the JVM denies this module native access
   */
  public static boolean isSupported(MemorySegment device) {
    return LIBRARY.isInstalled() && mlx5_h.mlx5dv_is_supported(device);
  }
}
