package org.rdma4j.bindings.providers;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.generated.ibv_device_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.mlx5.DevX;
import org.rdma4j.bindings.mlx5.generated.mlx5_h;
import org.rdma4j.bindings.mlx5.generated.mlx5dv_devx_uar;
import org.rdma4j.bindings.mlx5.generated.mlx5dv_devx_umem;

/** The commands of DevX, which devices of other providers refuse. */
@Tag("mlx5")
final class DevXDeviceTest {
  private static final ValueLayout.OfInt BIG_ENDIAN =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int EREMOTEIO = 121;

  // Commands of the firmware.
  private static final int QUERY_HCA_CAP = 0x100;
  private static final int ALLOC_TRANSPORT_DOMAIN = 0x816;
  private static final int CREATE_TIS = 0x912;
  private static final int MODIFY_TIS = 0x913;
  private static final int QUERY_TIS = 0x915;

  // Where fields begin, in bits.
  private static final int OPERATION_MODIFIER = 0x30;
  private static final int ID = 0x40;
  private static final int MASK_OF_PRIORITY = 0xbf;
  private static final int WRITTEN_CONTEXT = 0x100;
  private static final int READ_CONTEXT = 0x80;
  private static final int PRIORITY = 0xc;
  private static final int TRANSPORT_DOMAIN = 0x128;

  private final Arena arena = Arena.ofConfined();
  private final OpenDevice device = OpenDevice.first();
  private final MemorySegment context = device.context();

  @AfterEach
  void close() {
    device.close();
    arena.close();
  }

  /** Returns a field of big-endian words, by its first bit and the number of its bits. */
  private static int get(MemorySegment words, int bit, int width) {
    int word = words.get(BIG_ENDIAN, bit / 32 * 4L);
    return (int) ((word & 0xffff_ffffL) >> (32 - width - bit % 32) & ((1L << width) - 1));
  }

  private static MemorySegment set(MemorySegment words, int bit, int width, int value) {
    int shift = 32 - width - bit % 32;
    long at = bit / 32 * 4L;
    int mask = (int) ((1L << width) - 1) << shift;
    words.set(BIG_ENDIAN, at, (words.get(BIG_ENDIAN, at) & ~mask) | (value << shift));
    return words;
  }

  private MemorySegment command(int operation, long bytes) {
    return set(arena.allocate(bytes, Integer.BYTES), 0, 16, operation);
  }

  private MemorySegment answer(long bytes) {
    return arena.allocate(bytes, Integer.BYTES);
  }

  @Test
  void theCapabilitiesAreThoseOfTheAttributes() {
    MemorySegment answer = answer(DevX.HEADER_BYTES + 4096);
    assertThat(DevX.general_cmd(context, command(QUERY_HCA_CAP, 16), answer)).isZero();
    MemorySegment capabilities = answer.asSlice(DevX.HEADER_BYTES);
    MemorySegment attributes = arena.allocate(ibv_device_attr.layout());
    assertThat(rdma_h.ibv_query_device(context, attributes)).isZero();
    assertThat(1 << get(capabilities, 0x9b, 5)).isEqualTo(ibv_device_attr.max_qp(attributes));
    assertThat(1 << get(capabilities, 0xdb, 5)).isEqualTo(ibv_device_attr.max_cq(attributes));
    assertThat(1 << get(capabilities, 0x32b, 5)).isEqualTo(ibv_device_attr.max_pd(attributes));
    assertThat(get(capabilities, 0x1b8, 8))
        .isEqualTo(ibv_device_attr.phys_port_cnt(attributes) & 0xff);
  }

  @Test
  void aCommandThatTheFirmwareRefusesHasItsStatusInTheAnswer() {
    MemorySegment command = set(command(QUERY_HCA_CAP, 16), OPERATION_MODIFIER, 16, 0x77 << 1);
    MemorySegment answer = answer(DevX.HEADER_BYTES + 4096);
    assertThat(DevX.general_cmd(context, command, answer)).isEqualTo(EREMOTEIO);
    assertThat(answer.get(JAVA_BYTE, 0)).isEqualTo((byte) 3);
  }

  @Test
  void anObjectIsCreatedReadChangedAndDestroyed() {
    MemorySegment out = answer(16);
    MemorySegment domain = DevX.obj_create(context, command(ALLOC_TRANSPORT_DOMAIN, 16), out);
    assertThat(domain).isNotEqualTo(MemorySegment.NULL);
    int domainId = get(out, ID, 32);
    MemorySegment creation = command(CREATE_TIS, 192);
    set(creation, WRITTEN_CONTEXT + TRANSPORT_DOMAIN, 24, domainId);
    set(creation, WRITTEN_CONTEXT + PRIORITY, 4, 3);
    MemorySegment tis = DevX.obj_create(context, creation, out);
    assertThat(tis).isNotEqualTo(MemorySegment.NULL);
    int id = get(out, ID, 32);

    MemorySegment query = set(command(QUERY_TIS, 16), ID, 32, id);
    MemorySegment read = answer(176);
    assertThat(DevX.obj_query(tis, query, read)).isZero();
    assertThat(get(read, READ_CONTEXT + PRIORITY, 4)).isEqualTo(3);
    assertThat(get(read, READ_CONTEXT + TRANSPORT_DOMAIN, 24)).isEqualTo(domainId);

    MemorySegment change = set(command(MODIFY_TIS, 192), ID, 32, id);
    set(change, MASK_OF_PRIORITY, 1, 1);
    set(change, WRITTEN_CONTEXT + PRIORITY, 4, 5);
    assertThat(DevX.obj_modify(tis, change, out)).isZero();
    assertThat(DevX.obj_query(tis, query, read)).isZero();
    assertThat(get(read, READ_CONTEXT + PRIORITY, 4)).isEqualTo(5);

    assertThat(DevX.obj_destroy(tis)).isZero();
    assertThat(DevX.obj_destroy(domain)).isZero();
  }

  @Test
  void anObjectThatTheFirmwareRefusesIsNull() {
    MemorySegment out = answer(16);
    MemorySegment creation = command(CREATE_TIS, 192);
    set(creation, WRITTEN_CONTEXT + TRANSPORT_DOMAIN, 24, 0xabcdef);
    assertThat(DevX.obj_create(context, creation, out)).isEqualTo(MemorySegment.NULL);
    assertThat(Errno.errno()).isEqualTo(EREMOTEIO);
    assertThat(out.get(JAVA_BYTE, 0)).isEqualTo((byte) 5);
  }

  @Test
  void memoryIsRegisteredForTheFirmware() {
    MemorySegment memory = arena.allocate(4096, 4096);
    int access = rdma_h.IBV_ACCESS_LOCAL_WRITE();
    MemorySegment first = DevX.umem_reg(context, memory, access);
    MemorySegment second = DevX.umem_reg(context, memory, access);
    assertThat(first).isNotEqualTo(MemorySegment.NULL);
    assertThat(mlx5dv_devx_umem.umem_id(first)).isNotEqualTo(mlx5dv_devx_umem.umem_id(second));
    assertThat(DevX.umem_dereg(first)).isZero();
    assertThat(DevX.umem_dereg(second)).isZero();
  }

  @Test
  void aDoorbellPageIsAllocated() {
    MemorySegment page = DevX.alloc_uar(context, mlx5_h.MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF());
    assertThat(page).isNotEqualTo(MemorySegment.NULL);
    MemorySegment register = mlx5dv_devx_uar.reg_addr(page);
    register.reinterpret(Long.BYTES).set(ValueLayout.JAVA_LONG, 0, 1);
    DevX.free_uar(page);
  }
}
