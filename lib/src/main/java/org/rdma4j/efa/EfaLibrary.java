package org.rdma4j.efa;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.rdma4j.ErrorNumber;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.Library;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.datapath.ExtendedPolling;
import org.rdma4j.platform.NativeFailures;

/**
 * The functions of libefa. Each one fails with EOPNOTSUPP if the device is of another provider.
 *
 * <p>The structs are described here, and not taken from the bindings of EFA, because those are in
 * an artifact of their own, which a program need not have. They are those of rdma-core 44: newer
 * versions have more fields behind these, and learn from the length that they are not there.
 */
public final class EfaLibrary {
  /** The length of {@code struct efadv_device_attr}. */
  public static final long DEVICE_ATTRIBUTES = 32;

  private static final Library LIBRARY =
      new Library("libefa.so.1", "ibverbs-providers", "libibverbs", "libefa1");

  /** The length of {@code struct efadv_qp_init_attr}: all zero for SRD. */
  private static final int QUEUE_PAIR = 16;

  /** {@code struct efadv_cq_init_attr}: the length, the offset of the flags, and the flag. */
  private static final int COMPLETION_QUEUE = 16;

  private static final long WC_FLAGS = 8;
  private static final long WITH_SGID = 1;

  /** {@code struct efadv_ah_attr}: the length, and the offset of the number. */
  private static final int ADDRESS_HANDLE = 16;

  private static final long NUMBER = 8;

  /** The offset of the function in {@code struct efadv_cq}. */
  private static final long WC_READ_SGID = 8;

  /** Calls {@code int (void *, void *, uint32_t)}. */
  private static final MethodHandle QUERY =
      Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));

  /** Calls {@code void *(void *, void *, void *, uint32_t)}. */
  private static final MethodHandle CREATE =
      Errno.downcall(FunctionDescriptor.of(rdma_h.C_POINTER, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));

  /** Calls {@code void *(void *)}. */
  private static final MethodHandle CONVERT =
      Errno.downcall(FunctionDescriptor.of(rdma_h.C_POINTER, ADDRESS));

  private EfaLibrary() {}

  /**
   * Queries the device: {@code efadv_query_device}.
   *
   * @param device the name of the device, for the message
   * @param attributes memory for the struct
   * @throws UnsupportedByDeviceException if the device is not one of EFA, or libefa is not
   *     installed
   */
  public static void queryDevice(String device, MemorySegment context, MemorySegment attributes) {
    int errno = query("efadv_query_device", device, context, attributes, (int) DEVICE_ATTRIBUTES);
    if (errno == ErrorNumber.EOPNOTSUPP.value()) {
      throw unsupported(
          "efadv_query_device",
          device,
          "The device "
              + device
              + " is not one of EFA, which alone have this; use an EFA device, or a queue pair of"
              + " type RELIABLE_CONNECTION or UNRELIABLE_DATAGRAM");
    }
    NativeFailures.check(device, "efadv_query_device", errno);
  }

  /** Returns the number that the device gave an address handle: {@code efadv_query_ah}. */
  public static int addressHandleNumber(String device, MemorySegment handle) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ADDRESS_HANDLE, Long.BYTES);
      NativeFailures.check(
          device,
          "efadv_query_ah",
          query("efadv_query_ah", device, handle, attributes, ADDRESS_HANDLE));
      return Short.toUnsignedInt(attributes.get(JAVA_SHORT, NUMBER));
    }
  }

  /**
   * Creates a queue pair of type SRD: {@code efadv_create_qp_ex}. Returns NULL and sets errno if it
   * fails.
   *
   * @param init {@code struct ibv_qp_init_attr_ex}, of type {@code IBV_QPT_DRIVER}
   */
  public static MemorySegment createQueuePair(
      String device, MemorySegment context, MemorySegment init) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment type = arena.allocate(QUEUE_PAIR, Long.BYTES);
      return create("efadv_create_qp_ex", device, context, init, type);
    }
  }

  /**
   * Creates a completion queue whose completions have the address of a sender without an address
   * handle: {@code efadv_create_cq} with {@code EFADV_WC_EX_WITH_SGID}. Returns NULL and sets errno
   * if it fails.
   *
   * @param init {@code struct ibv_cq_init_attr_ex}
   */
  public static MemorySegment createCompletionQueue(
      String device, MemorySegment context, MemorySegment init) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment flags = arena.allocate(COMPLETION_QUEUE, Long.BYTES);
      flags.set(JAVA_LONG, WC_FLAGS, WITH_SGID);
      return create("efadv_create_cq", device, context, init, flags);
    }
  }

  /** Returns what reads the address of senders from a queue of {@link #createCompletionQueue}. */
  public static ExtendedPolling.SourceReader sourceReader(String device, MemorySegment queue) {
    MemorySegment efa;
    try {
      efa =
          (MemorySegment)
              CONVERT.invokeExact(
                  function("efadv_cq_from_ibv_cq_ex", device), Errno.state(), queue);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    return new ExtendedPolling.SourceReader(
        efa.reinterpret(WC_READ_SGID + Long.BYTES).get(JAVA_LONG, WC_READ_SGID), efa.address());
  }

  private static int query(
      String name, String device, MemorySegment object, MemorySegment out, int length) {
    try {
      return (int) QUERY.invokeExact(function(name, device), Errno.state(), object, out, length);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static MemorySegment create(
      String name, String device, MemorySegment context, MemorySegment init, MemorySegment ofEfa) {
    try {
      return (MemorySegment)
          CREATE.invokeExact(
              function(name, device), Errno.state(), context, init, ofEfa, (int) ofEfa.byteSize());
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static MemorySegment function(String name, String device) {
    try {
      return LIBRARY.function(name);
    } catch (UnsatisfiedLinkError missing) {
      throw unsupported(name, device, String.valueOf(missing.getMessage()));
    }
  }

  private static UnsupportedByDeviceException unsupported(
      String call, String device, String advice) {
    return new UnsupportedByDeviceException(call, ErrorNumber.EOPNOTSUPP.value(), device, advice);
  }
}
