package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;

/** Each shape passes its arguments to C, and returns the result and errno. */
final class CallsTest {
  private static final long A = 0x1122334455667788L;
  private static final long B = 0x99AABBCCDDEEFF00L;
  private static final long C = 0x0F1E2D3C4B5A6978L;
  private static final long LENGTH = 0x123456789AL;

  @Test
  void pointerOfPointer() {
    MemorySegment result = Calls.pointer(function("pointer_of_pointer"), segment(A));
    assertThat(CFunctions.recorded(1)).containsExactly(A);
    assertThat(result.address()).isEqualTo(A);
    assertThat(Errno.errno()).isEqualTo(1001);
  }

  @Test
  void pointerOfTwoPointers() {
    MemorySegment result =
        Calls.pointer(function("pointer_of_two_pointers"), segment(A), segment(B));
    assertThat(CFunctions.recorded(2)).containsExactly(A, B);
    assertThat(result.address()).isEqualTo(B);
    assertThat(Errno.errno()).isEqualTo(1002);
  }

  @Test
  void shapeOfCreateCq() {
    MemorySegment result =
        Calls.pointer(function("create_cq"), segment(A), -2, segment(B), segment(C), -5);
    assertThat(CFunctions.recorded(5)).containsExactly(A, -2L, B, C, -5L);
    assertThat(result.address()).isEqualTo(B);
    assertThat(Errno.errno()).isEqualTo(1003);
  }

  @Test
  void shapeOfWriteCmEvent() {
    assertThat(Calls.integer(function("write_event"), segment(A), -2, -3, C)).isEqualTo(-7);
    assertThat(CFunctions.recorded(4)).containsExactly(A, -2L, -3L, C);
    assertThat(Errno.errno()).isEqualTo(1101);
  }

  @Test
  void shapesOfDevX() {
    int result = Calls.integer(function("command"), segment(A), segment(B), LENGTH, segment(C), 16);
    assertThat(CFunctions.recorded(5)).containsExactly(A, B, LENGTH, C, 16L);
    assertThat(result).isEqualTo(-8);
    assertThat(Errno.errno()).isEqualTo(1102);
    MemorySegment created =
        Calls.pointer(function("creation"), segment(C), segment(B), 17, segment(A), LENGTH);
    assertThat(CFunctions.recorded(5)).containsExactly(C, B, 17L, A, LENGTH);
    assertThat(created.address()).isEqualTo(A);
    assertThat(Errno.errno()).isEqualTo(1103);
  }

  @Test
  void shapeOfRegMr() {
    MemorySegment result = Calls.pointer(function("reg_mr"), segment(A), segment(B), LENGTH, -4);
    assertThat(CFunctions.recorded(4)).containsExactly(A, B, LENGTH, -4L);
    assertThat(result.address()).isEqualTo(B);
    assertThat(Errno.errno()).isEqualTo(1004);
  }

  @Test
  void shapeOfRegMrIova2() {
    MemorySegment result =
        Calls.pointer(function("reg_mr_iova2"), segment(A), segment(B), LENGTH, C, -1);
    assertThat(CFunctions.recorded(5)).containsExactly(A, B, LENGTH, C, 0xFFFFFFFFL);
    assertThat(result.address()).isEqualTo(B);
    assertThat(Errno.errno()).isEqualTo(1005);
  }

  @Test
  void pointerOfInt() {
    MemorySegment result = Calls.pointer(function("pointer_of_int"), -7);
    assertThat(CFunctions.recorded(1)).containsExactly(-7L);
    assertThat(result.address()).isEqualTo(0x77);
    assertThat(Errno.errno()).isEqualTo(1008);
  }

  @Test
  void pointerOfPointerAndInt() {
    MemorySegment result = Calls.pointer(function("pointer_of_pointer_and_int"), segment(A), -1);
    assertThat(CFunctions.recorded(2)).containsExactly(A, 0xFFFFFFFFL);
    assertThat(result.address()).isEqualTo(A);
    assertThat(Errno.errno()).isEqualTo(1009);
  }

  @Test
  void intOfPointer() {
    int result = Calls.integer(function("int_of_pointer"), segment(A));
    assertThat(CFunctions.recorded(1)).containsExactly(A);
    assertThat(result).isEqualTo(-10);
    assertThat(Errno.errno()).isEqualTo(1010);
  }

  @Test
  void intOfTwoPointers() {
    int result = Calls.integer(function("int_of_two_pointers"), segment(A), segment(B));
    assertThat(CFunctions.recorded(2)).containsExactly(A, B);
    assertThat(result).isEqualTo(-11);
    assertThat(Errno.errno()).isEqualTo(1011);
  }

  @Test
  void intOfThreePointers() {
    int result =
        Calls.integer(function("int_of_three_pointers"), segment(A), segment(B), segment(C));
    assertThat(CFunctions.recorded(3)).containsExactly(A, B, C);
    assertThat(result).isEqualTo(-6);
    assertThat(Errno.errno()).isEqualTo(1006);
  }

  @Test
  void shapeOfQueryGid() {
    int result = Calls.integer(function("query_gid"), segment(A), (byte) 255, -3, segment(C));
    assertThat(CFunctions.recorded(4)).containsExactly(A, 255L, -3L, C);
    assertThat(result).isEqualTo(-7);
    assertThat(Errno.errno()).isEqualTo(1007);
  }

  @Test
  void returnedPointerMayBeDereferenced() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom("read through the returned pointer");
      MemorySegment returned = Calls.pointer(function("pointer_of_pointer"), text);
      assertThat(returned.getString(0)).isEqualTo("read through the returned pointer");
    }
  }

  private static MemorySegment function(String name) {
    return CFunctions.address(name);
  }

  private static MemorySegment segment(long address) {
    return MemorySegment.ofAddress(address);
  }
}
