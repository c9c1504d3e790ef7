package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.rdma4j.bindings.generated.rdma_h.IBV_ACCESS_LOCAL_WRITE;
import static org.rdma4j.bindings.generated.rdma_h.IBV_ACCESS_REMOTE_READ;
import static org.rdma4j.bindings.generated.rdma_h.IBV_ACCESS_REMOTE_WRITE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_cq;
import org.rdma4j.bindings.generated.ibv_mr;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.ibv_srq;
import org.rdma4j.bindings.generated.rdma_addr;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.rdma_route;

/**
 * The static inline functions of rdma_verbs.h, which post, poll and register through the identifier
 * of a connection, and the two of rdma_cma.h. A function that returns -1 leaves the reason in
 * {@link Errno}. As in C, each post builds a new request: {@link DataPath} is faster.
 */
public final class RdmaVerbs {
  private RdmaVerbs() {}

  /** {@code rdma_get_local_addr}: returns the {@code sockaddr_storage} in the identifier. */
  public static MemorySegment rdma_get_local_addr(MemorySegment id) {
    return rdma_addr.src_storage(rdma_route.addr(rdma_cm_id.route(id)));
  }

  /** {@code rdma_get_peer_addr}: returns the {@code sockaddr_storage} in the identifier. */
  public static MemorySegment rdma_get_peer_addr(MemorySegment id) {
    return rdma_addr.dst_storage(rdma_route.addr(rdma_cm_id.route(id)));
  }

  /** {@code rdma_seterrno}: returns 0 for 0, else -1 and sets {@link Errno} to the value. */
  public static int rdma_seterrno(int ret) {
    if (ret == 0) {
      return 0;
    }
    Errno.errno(ret);
    return -1;
  }

  /** {@code rdma_reg_msgs}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment rdma_reg_msgs(MemorySegment id, MemorySegment addr, long length) {
    return Verbs.ibv_reg_mr(rdma_cm_id.pd(id), addr, length, IBV_ACCESS_LOCAL_WRITE());
  }

  /** {@code rdma_reg_read}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment rdma_reg_read(MemorySegment id, MemorySegment addr, long length) {
    return Verbs.ibv_reg_mr(
        rdma_cm_id.pd(id), addr, length, IBV_ACCESS_LOCAL_WRITE() | IBV_ACCESS_REMOTE_READ());
  }

  /** {@code rdma_reg_write}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment rdma_reg_write(MemorySegment id, MemorySegment addr, long length) {
    return Verbs.ibv_reg_mr(
        rdma_cm_id.pd(id), addr, length, IBV_ACCESS_LOCAL_WRITE() | IBV_ACCESS_REMOTE_WRITE());
  }

  /** {@code rdma_dereg_mr}: returns 0, or sets {@link Errno} and returns -1. */
  public static int rdma_dereg_mr(MemorySegment mr) {
    return rdma_seterrno(rdma_h.ibv_dereg_mr(mr));
  }

  /**
   * {@code rdma_post_recvv}: returns 0, or sets {@link Errno} and returns -1. Uses the shared
   * receive queue, if any.
   */
  public static int rdma_post_recvv(MemorySegment id, long context, MemorySegment sgl, int nsge) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment wr = arena.allocate(ibv_recv_wr.layout());
      ibv_recv_wr.wr_id(wr, context);
      ibv_recv_wr.sg_list(wr, sgl);
      ibv_recv_wr.num_sge(wr, nsge);
      MemorySegment bad = arena.allocate(ADDRESS);
      MemorySegment srq = rdma_cm_id.srq(id);
      MemorySegment qp = rdma_cm_id.qp(id);
      return rdma_seterrno(
          srq.address() != 0
              ? DataPath.ibv_post(
                  DataPath.ibv_post_srq_recv$op(ibv_srq.context(srq)),
                  srq.address(),
                  wr.address(),
                  bad.address())
              : DataPath.ibv_post(
                  DataPath.ibv_post_recv$op(ibv_qp.context(qp)),
                  qp.address(),
                  wr.address(),
                  bad.address()));
    }
  }

  /** {@code rdma_post_sendv}: returns 0, or sets {@link Errno} and returns -1. */
  public static int rdma_post_sendv(
      MemorySegment id, long context, MemorySegment sgl, int nsge, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      return post(id, request(arena, rdma_h.IBV_WR_SEND(), context, sgl, nsge, flags));
    }
  }

  /** {@code rdma_post_readv}: returns 0, or sets {@link Errno} and returns -1. */
  public static int rdma_post_readv(
      MemorySegment id,
      long context,
      MemorySegment sgl,
      int nsge,
      int flags,
      long remote_addr,
      int rkey) {
    return remote(rdma_h.IBV_WR_RDMA_READ(), id, context, sgl, nsge, flags, remote_addr, rkey);
  }

  /** {@code rdma_post_writev}: returns 0, or sets {@link Errno} and returns -1. */
  public static int rdma_post_writev(
      MemorySegment id,
      long context,
      MemorySegment sgl,
      int nsge,
      int flags,
      long remote_addr,
      int rkey) {
    return remote(rdma_h.IBV_WR_RDMA_WRITE(), id, context, sgl, nsge, flags, remote_addr, rkey);
  }

  /** {@code rdma_post_recv}: returns 0, or sets {@link Errno} and returns -1. */
  public static int rdma_post_recv(
      MemorySegment id, long context, MemorySegment addr, long length, MemorySegment mr) {
    try (Arena arena = Arena.ofConfined()) {
      return rdma_post_recvv(id, context, entry(arena, addr, length, mr), 1);
    }
  }

  /**
   * {@code rdma_post_send}: returns 0, or sets {@link Errno} and returns -1. The region may be
   * NULL.
   */
  public static int rdma_post_send(
      MemorySegment id,
      long context,
      MemorySegment addr,
      long length,
      MemorySegment mr,
      int flags) {
    try (Arena arena = Arena.ofConfined()) {
      return rdma_post_sendv(id, context, entry(arena, addr, length, mr), 1, flags);
    }
  }

  /** {@code rdma_post_read}: returns 0, or sets {@link Errno} and returns -1. */
  public static int rdma_post_read(
      MemorySegment id,
      long context,
      MemorySegment addr,
      long length,
      MemorySegment mr,
      int flags,
      long remote_addr,
      int rkey) {
    try (Arena arena = Arena.ofConfined()) {
      return rdma_post_readv(
          id, context, entry(arena, addr, length, mr), 1, flags, remote_addr, rkey);
    }
  }

  /**
   * {@code rdma_post_write}: returns 0, or sets {@link Errno} and returns -1. The region may be
   * NULL.
   */
  public static int rdma_post_write(
      MemorySegment id,
      long context,
      MemorySegment addr,
      long length,
      MemorySegment mr,
      int flags,
      long remote_addr,
      int rkey) {
    try (Arena arena = Arena.ofConfined()) {
      return rdma_post_writev(
          id, context, entry(arena, addr, length, mr), 1, flags, remote_addr, rkey);
    }
  }

  /**
   * {@code rdma_post_ud_send}: returns 0, or sets {@link Errno} and returns -1. The region may be
   * NULL.
   */
  public static int rdma_post_ud_send(
      MemorySegment id,
      long context,
      MemorySegment addr,
      long length,
      MemorySegment mr,
      int flags,
      MemorySegment ah,
      int remote_qpn) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sgl = entry(arena, addr, length, mr);
      MemorySegment wr = request(arena, rdma_h.IBV_WR_SEND(), context, sgl, 1, flags);
      MemorySegment datagram = ibv_send_wr.wr.ud(ibv_send_wr.wr(wr));
      ibv_send_wr.wr.ud.ah(datagram, ah);
      ibv_send_wr.wr.ud.remote_qpn(datagram, remote_qpn);
      ibv_send_wr.wr.ud.remote_qkey(datagram, rdma_h.RDMA_UDP_QKEY());
      return post(id, wr);
    }
  }

  /**
   * {@code rdma_get_send_comp}: returns 1, or sets {@link Errno} and returns -1. Waits for a
   * completion.
   */
  public static int rdma_get_send_comp(MemorySegment id, MemorySegment wc) {
    return completion(rdma_cm_id.send_cq(id), rdma_cm_id.send_cq_channel(id), wc);
  }

  /**
   * {@code rdma_get_recv_comp}: returns 1, or sets {@link Errno} and returns -1. Waits for a
   * completion.
   */
  public static int rdma_get_recv_comp(MemorySegment id, MemorySegment wc) {
    return completion(rdma_cm_id.recv_cq(id), rdma_cm_id.recv_cq_channel(id), wc);
  }

  private static int completion(MemorySegment cq, MemorySegment channel, MemorySegment wc) {
    MemorySegment context = ibv_cq.context(cq);
    long poll = DataPath.ibv_poll_cq$op(context);
    long notify = DataPath.ibv_req_notify_cq$op(context);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ignored = arena.allocate(ADDRESS, 2);
      while (true) {
        int polled = DataPath.ibv_poll_cq(poll, cq.address(), 1, wc.address());
        if (polled != 0) {
          return polled < 0 ? rdma_seterrno(polled) : polled;
        }
        int notified = DataPath.ibv_req_notify_cq(notify, cq.address(), 0);
        if (notified != 0) {
          return rdma_seterrno(notified);
        }
        polled = DataPath.ibv_poll_cq(poll, cq.address(), 1, wc.address());
        if (polled != 0) {
          return polled < 0 ? rdma_seterrno(polled) : polled;
        }
        int result =
            Calls.integer(
                rdma_h.ibv_get_cq_event$address(),
                channel,
                ignored,
                ignored.asSlice(ADDRESS.byteSize()));
        if (result != 0) {
          return result;
        }
        rdma_h.ibv_ack_cq_events(cq, 1);
      }
    }
  }

  private static int remote(
      int opcode,
      MemorySegment id,
      long context,
      MemorySegment sgl,
      int nsge,
      int flags,
      long remote_addr,
      int rkey) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment wr = request(arena, opcode, context, sgl, nsge, flags);
      MemorySegment rdma = ibv_send_wr.wr.rdma(ibv_send_wr.wr(wr));
      ibv_send_wr.wr.rdma.remote_addr(rdma, remote_addr);
      ibv_send_wr.wr.rdma.rkey(rdma, rkey);
      return post(id, wr);
    }
  }

  private static MemorySegment request(
      Arena arena, int opcode, long context, MemorySegment sgl, int nsge, int flags) {
    MemorySegment wr = arena.allocate(ibv_send_wr.layout());
    ibv_send_wr.wr_id(wr, context);
    ibv_send_wr.sg_list(wr, sgl);
    ibv_send_wr.num_sge(wr, nsge);
    ibv_send_wr.opcode(wr, opcode);
    ibv_send_wr.send_flags(wr, flags);
    return wr;
  }

  private static MemorySegment entry(
      Arena arena, MemorySegment addr, long length, MemorySegment mr) {
    MemorySegment sge = arena.allocate(ibv_sge.layout());
    ibv_sge.addr(sge, addr.address());
    ibv_sge.length(sge, (int) length);
    ibv_sge.lkey(sge, mr.address() == 0 ? 0 : ibv_mr.lkey(mr));
    return sge;
  }

  private static int post(MemorySegment id, MemorySegment wr) {
    MemorySegment qp = rdma_cm_id.qp(id);
    try (Arena arena = Arena.ofConfined()) {
      return rdma_seterrno(
          DataPath.ibv_post(
              DataPath.ibv_post_send$op(ibv_qp.context(qp)),
              qp.address(),
              wr.address(),
              arena.allocate(ADDRESS).address()));
    }
  }
}
