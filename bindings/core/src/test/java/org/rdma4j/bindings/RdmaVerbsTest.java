package org.rdma4j.bindings;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.sockaddr_in6;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.RdmaVerbs;

/** Each request equals what C builds, whether it is accepted or refused. */
final class RdmaVerbsTest {
  private static final int LARGER_THAN_ANY_OBJECT = 1024;
  private static final int EBADF = 9;

  private static final long ADDRESS = 0x1122334455667788L;
  private static final long LENGTH = 0x81223344L;
  private static final long REMOTE = 0x99AABBCCDDEEFF00L;
  private static final int KEY = 0xF1E2D3C4;
  private static final int FLAGS = 0x8000000F;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment id = object();
  private final MemorySegment mr = object();
  private final MemorySegment sgl = object();
  private final MemorySegment request =
      CFunctions.address("request").reinterpret(12 * JAVA_LONG.byteSize());

  private MemorySegment object() {
    return arena.allocate(LARGER_THAN_ANY_OBJECT, 8);
  }

  @BeforeEach
  void setId() {
    CFunctions.call(
        "set_id",
        id.address(),
        object().address(),
        object().address(),
        object().address(),
        object().address(),
        object().address());
    CFunctions.call("set_keys", mr.address());
    ibv_sge.addr(sgl, ADDRESS);
    ibv_sge.length(sgl, 7);
    ibv_sge.lkey(sgl, KEY);
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -2})
  void vectorsArePostedAsInC(long context) {
    expect(
        "call_post_recvv",
        () -> RdmaVerbs.rdma_post_recvv(id, context, sgl, 1),
        context,
        sgl.address(),
        1);
    expect(
        "call_post_sendv",
        () -> RdmaVerbs.rdma_post_sendv(id, context, sgl, 3, FLAGS),
        context,
        sgl.address(),
        3,
        FLAGS);
    expect(
        "call_post_readv",
        () -> RdmaVerbs.rdma_post_readv(id, context, sgl, 1, FLAGS, REMOTE, KEY),
        context,
        sgl.address(),
        1,
        FLAGS,
        REMOTE,
        KEY);
    expect(
        "call_post_writev",
        () -> RdmaVerbs.rdma_post_writev(id, context, sgl, 1, FLAGS, REMOTE, KEY),
        context,
        sgl.address(),
        1,
        FLAGS,
        REMOTE,
        KEY);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -2})
  void singleEntriesArePostedAsInC(long context) {
    MemorySegment address = MemorySegment.ofAddress(ADDRESS);
    expect(
        "call_post_recv",
        () -> RdmaVerbs.rdma_post_recv(id, context, address, LENGTH, mr),
        context,
        ADDRESS,
        LENGTH,
        mr.address());
    for (MemorySegment region : List.of(mr, MemorySegment.NULL)) {
      expect(
          "call_post_send",
          () -> RdmaVerbs.rdma_post_send(id, context, address, LENGTH, region, FLAGS),
          context,
          ADDRESS,
          LENGTH,
          region.address(),
          FLAGS);
      expect(
          "call_post_write",
          () -> RdmaVerbs.rdma_post_write(id, context, address, LENGTH, region, 1, REMOTE, KEY),
          context,
          ADDRESS,
          LENGTH,
          region.address(),
          1,
          REMOTE,
          KEY);
    }
    expect(
        "call_post_read",
        () -> RdmaVerbs.rdma_post_read(id, context, address, LENGTH, mr, 1, REMOTE, KEY),
        context,
        ADDRESS,
        LENGTH,
        mr.address(),
        1,
        REMOTE,
        KEY);
  }

  @Test
  void receivesGoToTheSharedQueueIfThereIsOne() {
    CFunctions.call("set_srq", id.address(), object().address());
    expect("call_post_recvv", () -> RdmaVerbs.rdma_post_recvv(id, 5, sgl, 1), 5, sgl.address(), 1);
    assertThat(request.getAtIndex(JAVA_LONG, 0)).isEqualTo(3);
  }

  @Test
  void datagramsArePostedAsInC() {
    CFunctions.call("set_datagram", id.address());
    MemorySegment handle = MemorySegment.ofAddress(REMOTE);
    expect(
        "call_post_ud_send",
        () ->
            RdmaVerbs.rdma_post_ud_send(
                id, 5, MemorySegment.ofAddress(ADDRESS), LENGTH, mr, 1, handle, KEY),
        5,
        ADDRESS,
        LENGTH,
        mr.address(),
        1,
        REMOTE,
        KEY);
  }

  /** Each string has the results of two polls and of the request for an event. */
  @ParameterizedTest
  @ValueSource(strings = {"1 0 0", "0 1 0", "-5 0 0", "0 -6 0", "0 0 22", "0 0 0"})
  void completionsAreAwaitedAsInC(String answers) {
    List<ToIntFunction<MemorySegment>> inJava =
        List.of(
            wc -> RdmaVerbs.rdma_get_send_comp(id, wc), wc -> RdmaVerbs.rdma_get_recv_comp(id, wc));
    List<String> inC = List.of("call_get_send_comp", "call_get_recv_comp");
    for (int i = 0; i < inC.size(); i++) {
      answer(answers);
      Errno.errno(0);
      int java = inJava.get(i).applyAsInt(sgl);
      int errnoOfJava = Errno.errno();
      long[] seenByJava = request.toArray(JAVA_LONG);
      request.fill((byte) 0);
      answer(answers);
      int c = (int) CFunctions.callKeepingErrno(inC.get(i), id.address(), sgl.address());
      assertThat(java).isEqualTo(c);
      if (c < 0) {
        assertThat(errnoOfJava).isEqualTo(Errno.errno()).isNotZero();
      }
      assertThat(seenByJava).isEqualTo(request.toArray(JAVA_LONG));
    }
  }

  /** The channel has no descriptor, so the event cannot be read, and the call does not wait. */
  @Test
  void anEventThatCannotBeReadIsAFailure() {
    answer("0 0 0");
    assertThat(RdmaVerbs.rdma_get_send_comp(id, sgl)).isEqualTo(-1);
    assertThat(Errno.errno()).isEqualTo(EBADF);
  }

  private void answer(String answers) {
    request.fill((byte) 0);
    CFunctions.call(
        "answer", List.of(answers.split(" ")).stream().mapToLong(Long::parseLong).toArray());
  }

  @Test
  void addressesHaveTheSameOffsetsAsInC() {
    assertThat(RdmaVerbs.rdma_get_local_addr(id).address())
        .isEqualTo(CFunctions.call("call_get_local_addr", id.address()));
    assertThat(RdmaVerbs.rdma_get_peer_addr(id).address())
        .isEqualTo(CFunctions.call("call_get_peer_addr", id.address()));
  }

  @Test
  void addressesAreLargeEnoughForIpv6() {
    assertThat(RdmaVerbs.rdma_get_local_addr(id).byteSize())
        .isGreaterThanOrEqualTo(sockaddr_in6.layout().byteSize());
    assertThat(RdmaVerbs.rdma_get_peer_addr(id).byteSize())
        .isGreaterThanOrEqualTo(sockaddr_in6.layout().byteSize());
  }

  @Test
  void errnoIsSetIfThereIsOne() {
    Errno.errno(5);
    assertThat(RdmaVerbs.rdma_seterrno(0)).isZero();
    assertThat(Errno.errno()).isEqualTo(5);
    assertThat(RdmaVerbs.rdma_seterrno(7)).isEqualTo(-1);
    assertThat(Errno.errno()).isEqualTo(7);
  }

  private interface Post {
    int run();
  }

  /** Checks that Java and C post the same, return the same, and fail with the same errno. */
  private void expect(String inC, Post inJava, long... arguments) {
    request.fill((byte) 0);
    Errno.errno(0);
    int java = inJava.run();
    int errnoOfJava = Errno.errno();
    long[] requestOfJava = request.toArray(JAVA_LONG);
    request.fill((byte) 0);
    int c =
        (int)
            CFunctions.callKeepingErrno(
                inC,
                LongStream.concat(LongStream.of(id.address()), LongStream.of(arguments)).toArray());
    assertThat(java).as(inC).isEqualTo(c);
    if (c != 0) {
      assertThat(errnoOfJava).as(inC).isEqualTo(Errno.errno()).isNotZero();
    }
    assertThat(requestOfJava).as(inC).isEqualTo(request.toArray(JAVA_LONG));
    assertThat(requestOfJava[0]).as(inC).isPositive();
  }
}
