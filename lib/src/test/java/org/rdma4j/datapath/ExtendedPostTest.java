package org.rdma4j.datapath;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.generated.ibv_qp_ex;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.inlines.WorkRequests;
import org.rdma4j.verbs.QueuePairType;

/**
 * The {@code ibv_wr_*} calls for requests that soft-RoCE does not support, to functions in Java.
 */
final class ExtendedPostTest {
  private static final long ROOM = 4096;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment queuePair = arena.allocate(ROOM, 8);
  private final ProviderFunctions functions =
      new ProviderFunctions(
          arena, queuePair, WorkRequests.wr_id$offset() - ibv_qp_ex.wr_id$offset());
  private final List<String> calls = new ArrayList<>();

  @BeforeEach
  void putFunctions() throws ReflectiveOperationException {
    put("start", ibv_qp_ex.wr_start$offset());
    put("send", ibv_qp_ex.wr_send$offset());
    put("local_inv", ibv_qp_ex.wr_local_inv$offset(), JAVA_INT);
    put("send_tso", ibv_qp_ex.wr_send_tso$offset(), JAVA_LONG, JAVA_SHORT, JAVA_SHORT);
    put("atomic_write", ibv_qp_ex.wr_atomic_write$offset(), JAVA_INT, JAVA_LONG, JAVA_LONG);
    put("set_xrc_srqn", ibv_qp_ex.wr_set_xrc_srqn$offset(), JAVA_INT);
    put("set_sge", ibv_qp_ex.wr_set_sge$offset(), JAVA_INT, JAVA_LONG, JAVA_INT);
    functions.put(
        ibv_qp_ex.wr_complete$offset(),
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG),
        arguments -> {
          calls.add("complete[]");
          return 0;
        });
  }

  @AfterEach
  void free() {
    arena.close();
  }

  private void put(String name, long offset, MemoryLayout... arguments)
      throws ReflectiveOperationException {
    functions.put(
        offset,
        FunctionDescriptor.ofVoid(arguments).insertArgumentLayouts(0, JAVA_LONG),
        given -> calls.add(name + List.of(given).subList(1, given.length)));
  }

  private MemorySegment request(int opcode) {
    // The list of pieces follows the request.
    MemorySegment request =
        arena.allocate(SendLayout.SIZE + ibv_sge.layout().byteSize(), Long.BYTES);
    ibv_send_wr.opcode(request, opcode);
    return request;
  }

  private int post(QueuePairType type, MemorySegment request) {
    return new ExtendedQueuePair(
            queuePair,
            type == QueuePairType.UNRELIABLE_DATAGRAM,
            type == QueuePairType.XRC_SEND,
            true,
            false)
        .post(request.address(), arena.allocate(Long.BYTES).address());
  }

  @Test
  void aSendOverAnXrcConnectionNamesTheSharedReceiveQueue() {
    MemorySegment request = request(SendLayout.SEND);
    RawMemory.putInt(request.address() + SendLayout.XRC_REMOTE_SRQN, 77);
    assertThat(post(QueuePairType.XRC_SEND, request)).isZero();
    assertThat(calls).containsExactly("start[]", "send[]", "set_xrc_srqn[77]", "complete[]");
  }

  @Test
  void anInvalidationOverAnXrcConnectionNamesNoSharedReceiveQueue() {
    MemorySegment request = request(SendLayout.LOCAL_INV);
    RawMemory.putInt(request.address() + SendLayout.IMM_DATA, 5);
    assertThat(post(QueuePairType.XRC_SEND, request)).isZero();
    assertThat(calls).containsExactly("start[]", "local_inv[5]", "complete[]");
  }

  @Test
  void aSegmentedSendHasItsHeaderAndItsMemory() {
    MemorySegment request = request(SendLayout.TSO);
    RawMemory.putLong(request.address() + SendLayout.TSO_HEADER, 0x1234);
    RawMemory.putShort(request.address() + SendLayout.TSO_HEADER_SIZE, (short) 54);
    RawMemory.putShort(request.address() + SendLayout.TSO_MSS, (short) 1400);
    MemorySegment sge = request.asSlice(SendLayout.SIZE, ibv_sge.layout());
    ibv_sge.addr(sge, 0x5678);
    ibv_sge.length(sge, 9000);
    ibv_sge.lkey(sge, 3);
    ibv_send_wr.num_sge(request, 1);
    assertThat(post(QueuePairType.RAW_PACKET, request)).isZero();
    assertThat(calls)
        .containsExactly(
            "start[]",
            "send_tso[" + 0x1234 + ", 54, 1400]",
            "set_sge[3, " + 0x5678 + ", 9000]",
            "complete[]");
  }

  @Test
  void anAtomicWritePointsToItsBytesInTheRequest() {
    MemorySegment request = request(SendLayout.ATOMIC_WRITE);
    long bytes = request.address() + SendLayout.ATOMIC_COMPARE_ADD;
    RawMemory.putLong(request.address() + SendLayout.ATOMIC_REMOTE_ADDR, 0x1000);
    RawMemory.putInt(request.address() + SendLayout.ATOMIC_RKEY, 6);
    assertThat(post(QueuePairType.RELIABLE_CONNECTION, request)).isZero();
    assertThat(calls)
        .containsExactly("start[]", "atomic_write[6, " + 0x1000 + ", " + bytes + "]", "complete[]");
  }
}
