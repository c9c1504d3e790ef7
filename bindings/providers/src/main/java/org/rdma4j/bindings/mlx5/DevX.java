package org.rdma4j.bindings.mlx5;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.mlx5.generated.mlx5_h;

/**
 * DevX: commands in the format of the device's firmware, whose results the firmware writes back.
 * The names are those of C without {@code mlx5dv_devx_}. The length of a command and the length of
 * its answer are those of their segments, and both are checked before C sees them. The content of a
 * command is not checked.
 *
 * <p>A function that returns a pointer returns NULL if it fails; {@link
 * org.rdma4j.bindings.inlines.Errno#errno} has the reason. Other functions return 0 or an errno
 * value. EOPNOTSUPP says that the device is not an mlx5 device, or was opened without DevX.
 */
public final class DevX {
  /** The length of the headers of commands and answers, which all of them begin with. */
  public static final int HEADER_BYTES = 16;

  /** The attributes of the kernel's interface have lengths of 16 bits. */
  public static final int MAX_BYTES = 0xffff;

  private DevX() {}

  /**
   * Executes a command that creates nothing: {@code mlx5dv_devx_general_cmd}.
   *
   * @param context the {@code struct ibv_context *} of the device
   * @param in the command, 16 to 65535 bytes of native memory
   * @param out memory for the answer, 16 to 65535 bytes, native and writable
   * @return 0 or an errno value
   * @throws IllegalArgumentException if a segment is of another kind or length
   */
  public static int general_cmd(MemorySegment context, MemorySegment in, MemorySegment out) {
    check(in, out);
    return Calls.integer(
        mlx5_h.mlx5dv_devx_general_cmd$address(), context, in, in.byteSize(), out, out.byteSize());
  }

  /**
   * Executes a command that creates an object: {@code mlx5dv_devx_obj_create}.
   *
   * @param context the {@code struct ibv_context *} of the device
   * @param in the command, 16 to 65535 bytes of native memory
   * @param out memory for the answer, 16 to 65535 bytes, native and writable
   * @return the {@code struct mlx5dv_devx_obj *}, or NULL
   * @throws IllegalArgumentException if a segment is of another kind or length
   */
  public static MemorySegment obj_create(
      MemorySegment context, MemorySegment in, MemorySegment out) {
    check(in, out);
    return Calls.pointer(
        mlx5_h.mlx5dv_devx_obj_create$address(), context, in, in.byteSize(), out, out.byteSize());
  }

  /**
   * Executes a command that queries an object: {@code mlx5dv_devx_obj_query}.
   *
   * @param obj the {@code struct mlx5dv_devx_obj *}
   * @param in the command, 16 to 65535 bytes of native memory
   * @param out memory for the answer, 16 to 65535 bytes, native and writable
   * @return 0 or an errno value
   * @throws IllegalArgumentException if a segment is of another kind or length
   */
  public static int obj_query(MemorySegment obj, MemorySegment in, MemorySegment out) {
    check(in, out);
    return Calls.integer(
        mlx5_h.mlx5dv_devx_obj_query$address(), obj, in, in.byteSize(), out, out.byteSize());
  }

  /**
   * Executes a command that changes an object: {@code mlx5dv_devx_obj_modify}.
   *
   * @param obj the {@code struct mlx5dv_devx_obj *}
   * @param in the command, 16 to 65535 bytes of native memory
   * @param out memory for the answer, 16 to 65535 bytes, native and writable
   * @return 0 or an errno value
   * @throws IllegalArgumentException if a segment is of another kind or length
   */
  public static int obj_modify(MemorySegment obj, MemorySegment in, MemorySegment out) {
    check(in, out);
    return Calls.integer(
        mlx5_h.mlx5dv_devx_obj_modify$address(), obj, in, in.byteSize(), out, out.byteSize());
  }

  /**
   * Destroys an object: {@code mlx5dv_devx_obj_destroy}.
   *
   * @param obj the {@code struct mlx5dv_devx_obj *}
   * @return 0 or an errno value
   */
  public static int obj_destroy(MemorySegment obj) {
    return Calls.integer(mlx5_h.mlx5dv_devx_obj_destroy$address(), obj);
  }

  /**
   * Registers memory for the firmware, by whose number commands name it: {@code
   * mlx5dv_devx_umem_reg}.
   *
   * @param context the {@code struct ibv_context *} of the device
   * @param memory native memory of at least one byte; it must not be freed before {@link
   *     #umem_dereg}
   * @param access a mask of {@code enum ibv_access_flags}
   * @return the {@code struct mlx5dv_devx_umem *}, or NULL
   * @throws IllegalArgumentException if the memory is on the Java heap or empty
   */
  public static MemorySegment umem_reg(MemorySegment context, MemorySegment memory, int access) {
    check("memory", memory, 1, Long.MAX_VALUE);
    return Calls.pointer(
        mlx5_h.mlx5dv_devx_umem_reg$address(), context, memory, memory.byteSize(), access);
  }

  /**
   * Deregisters memory: {@code mlx5dv_devx_umem_dereg}.
   *
   * @param umem the {@code struct mlx5dv_devx_umem *}
   * @return 0 or an errno value
   */
  public static int umem_dereg(MemorySegment umem) {
    return Calls.integer(mlx5_h.mlx5dv_devx_umem_dereg$address(), umem);
  }

  /**
   * Allocates a page of the device for doorbells: {@code mlx5dv_devx_alloc_uar}.
   *
   * @param context the {@code struct ibv_context *} of the device
   * @param flags an {@code MLX5DV_UAR_ALLOC_TYPE_*}
   * @return the {@code struct mlx5dv_devx_uar *}, or NULL
   */
  public static MemorySegment alloc_uar(MemorySegment context, int flags) {
    return Calls.pointer(mlx5_h.mlx5dv_devx_alloc_uar$address(), context, flags);
  }

  /**
   * Frees a page: {@code mlx5dv_devx_free_uar}.
   *
   * @param uar the {@code struct mlx5dv_devx_uar *}
   */
  public static void free_uar(MemorySegment uar) {
    mlx5_h.mlx5dv_devx_free_uar(uar);
  }

  private static void check(MemorySegment in, MemorySegment out) {
    check("in", in, HEADER_BYTES, MAX_BYTES);
    check("out", out, HEADER_BYTES, MAX_BYTES);
    if (out.isReadOnly()) {
      throw new IllegalArgumentException("out is read-only, must be writable");
    }
  }

  private static void check(String name, MemorySegment segment, long min, long max) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(name + " is on the Java heap, must be native memory");
    }
    if (segment.byteSize() < min || segment.byteSize() > max) {
      throw new IllegalArgumentException(
          "%s has %d bytes, must have from %d to %d".formatted(name, segment.byteSize(), min, max));
    }
  }
}
