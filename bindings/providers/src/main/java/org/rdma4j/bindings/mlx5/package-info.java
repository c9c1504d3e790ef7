/**
 * Functions of {@code infiniband/mlx5dv.h} for mlx5 devices (ConnectX, BlueField): queries, the
 * memory of objects, queue pairs of DC and others, device memory, and DevX; no steering, signatures
 * or encryption. C names, C semantics, no safety checks except those of {@link
 * org.rdma4j.bindings.mlx5.DevX}. The package {@code generated} is the output of jextract; {@code
 * libmlx5.so.1} is loaded at the first call. It has never been tried on a real one: its layouts are
 * compared with the compiler's, other devices are refused, and {@code libmlx5} was called with a
 * simulated ConnectX.
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
