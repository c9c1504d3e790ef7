/**
 * What {@code infiniband/mlx5dv.h} declares for mlx5 devices (ConnectX, BlueField): C names, C
 * semantics, no safety checks except those of {@link org.rdma4j.bindings.mlx5.DevX}. The package
 * {@code generated} is the output of jextract; {@code libmlx5.so.1} is loaded at the first call. It
 * has never been tried on a real one: its layouts are compared with the compiler's, other devices
 * are refused, and {@code libmlx5} was called with a simulated ConnectX.
 *
 * <p>{@code struct mlx5_wqe_ctrl_seg} is missing, because Java refuses its layout: its members are
 * aligned more strictly than the struct.
 *
 * {@snippet :
 * if (Mlx5.isSupported(ibv_context.device(context))) {
 *   try (Arena arena = Arena.ofConfined()) {
 *     MemorySegment in = arena.allocate(DevX.HEADER_BYTES); // a command of the device's manual
 *     MemorySegment out = arena.allocate(DevX.HEADER_BYTES);
 *     int errno = DevX.general_cmd(context, in, out);
 *   }
 * }
 * }
 */
@NullMarked
package org.rdma4j.bindings.mlx5;

import org.jspecify.annotations.NullMarked;
