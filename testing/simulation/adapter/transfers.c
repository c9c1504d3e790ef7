/* Carries out one send request: finds the peer, checks the memory of both sides and moves the data. */
#include "../wire/wire.h"
#include "adapter.h"

/* With MLX5SIM_SINK=1, each request succeeds at once and no data moves: for measurements of posts and polls. */
bool sim_sink;

bool receives(struct qp *qp)
{
	return qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD || qp->state == IBV_QPS_SQE;
}

/* A message with a tag may need no receive. */
bool can_take(struct qp *peer, struct wqe *w, const struct segs *data)
{
	return has_receive(peer) || (w->opcode != MLX5_OPCODE_RDMA_WRITE_IMM && tagged_for(peer, data));
}

enum outcome deliver(struct qp *qp, struct wqe *w, struct qp *peer, struct segs *data, bool with_imm)
{
	struct receive r;
	bool write = w->opcode == MLX5_OPCODE_RDMA_WRITE_IMM;
	bool solicited = w->flags & MLX5_WQE_CTRL_SOLICITED;
	int opcode = write ? MLX5_CQE_RESP_WR_IMM : w->opcode == MLX5_OPCODE_SEND_INVAL ? MLX5_CQE_RESP_SEND_INV
		: with_imm ? MLX5_CQE_RESP_SEND_IMM : MLX5_CQE_RESP_SEND;
	uint32_t extra = peer->type == IBV_QPT_UD ? GRH_BYTES : 0;
	struct tagged *tagged = write ? NULL : tagged_for(peer, data);
	if (tagged)
		return deliver_tagged(qp, w, peer, tagged, data);
	take_receive(peer, &r);
	if (peer->srq && peer->srq->tags && !write)
		mark_untagged(peer, &r, data);
	if (write) {
		put_receive(peer, &r, qp, opcode, w->imm, data->total, 0, NULL, solicited);
		return DONE;
	}
	if (r.bad || r.segs.total < data->total + extra) {
		uint8_t syndrome = r.bad ? MLX5_CQE_SYNDROME_LOCAL_PROT_ERR : MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
		if (qp->type == IBV_QPT_UC && !r.bad)
			return DONE; /* dropped; the receive is lost in this simulation */
		put_error(peer, receive_cq(peer), MLX5_CQE_RESP_ERR, r.index, 0, syndrome);
		to_error(peer);
		return qp->type == IBV_QPT_RC || qp->type == IBV_QPT_XRC_SEND ? fail_request(qp, w, r.bad ? MLX5_CQE_SYNDROME_REMOTE_OP_ERR
			: MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR) : DONE;
	}
	if (w->opcode == MLX5_OPCODE_SEND_INVAL) {
		struct mkey *mk = mkey_find(be32toh(w->imm));
		if (!mk || !mk->window || !mk->type2 || !mk->bound || mk->qpn != peer->qpn) {
			put_error(peer, receive_cq(peer), MLX5_CQE_RESP_ERR, r.index, 0, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
			to_error(peer);
			return fail_request(qp, w, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
		}
		unbind_window(mk);
		mk->free = true;
	}
	if (extra) {
		struct segs all = {.n = 1, .total = extra};
		char grh[GRH_BYTES];
		datagram_header(w, data->total, grh);
		all.s[0] = (struct seg){grh, extra};
		for (int i = 0; i < data->n && all.n < MAX_SEGS; i++)
			all.s[all.n++] = data->s[i];
		copy_segs(&all, &r.segs, data->total + extra);
	} else if (peer->scatter_cqe && !r.app && receive_cq(peer)->cqe_size == 64 && data->total && data->total <= 32) {
		char bytes[32];
		struct segs to = {.n = 1, .total = 32, .s = {{bytes, 32}}};
		copy_segs(data, &to, data->total);
		put_receive(peer, &r, qp, opcode, w->imm, data->total, MLX5_INLINE_SCATTER_32, bytes, solicited);
		return DONE;
	} else {
		copy_segs(data, &r.segs, data->total);
	}
	put_receive(peer, &r, qp, opcode, w->imm, data->total + extra, 0, NULL, solicited);
	return DONE;
}

/* A request of XRC names the queue of the peer whose receives it takes, and whose domain its memory belongs to. */
static bool aim(struct qp *peer, uint32_t srqn)
{
	for (struct srq *srq = sim_srqs; srq; srq = srq->next)
		if (srq->srqn == srqn && srq->cq) {
			peer->srq = srq;
			peer->pd = srq->pd;
			return true;
		}
	return false;
}

static bool fits(struct qp *qp, struct qp *peer)
{
	return peer->type == (qp->type == IBV_QPT_XRC_SEND ? IBV_QPT_XRC_RECV : qp->type);
}

/* A remote address: a syndrome for the requester, or 0. */
static int remote(struct qp *peer, struct mlx5_wqe_raddr_seg *ra, uint32_t length, uint32_t access, struct segs *segs)
{
	if (!(peer->attr.qp_access_flags & access))
		return MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR;
	if (!length)
		return 0;
	return add_seg(segs, peer->pd, be32toh(ra->rkey), be64toh(ra->raddr), length, access, peer->qpn)
		? MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR : 0;
}

static enum outcome execute_aimed(struct qp *qp, struct wqe *w)
{
	uint8_t *start = w->bytes + (qp->type == IBV_QPT_XRC_SEND ? 32 : 16); /* of what follows */
	struct mlx5_wqe_raddr_seg *ra = (void *)start;
	bool reliable = qp->type != IBV_QPT_UC;
	struct segs local = {.n = 0}, far = {.n = 0};
	struct qp *peer;
	int error;
	if (!qp->waits_for_peer && !qp->waits_for_receive && (error = chosen_fault(qp)))
		return fail_request(qp, w, error);
	if (w->opcode == MLX5_OPCODE_UMR)
		return bind_window(qp, w);
	if (w->opcode == MLX5_OPCODE_TAG_MATCHING)
		return change_tags(qp, w);
	if (qp->type == IBV_QPT_UD)
		return execute_ud(qp, w);
	if (sim_sink) {
		complete_request(qp, w, 0, NULL);
		return DONE;
	}
	if (!port_down() && is_elsewhere(qp->attr.dest_qp_num))
		return execute_elsewhere(qp, w);
	peer = peer_of(qp->attr.dest_qp_num);
	if (port_down() || !peer || !fits(qp, peer) || !receives(peer) || peer->attr.dest_qp_num != qp->qpn) {
		/* 4.096 us x 2^timeout, or never */
		uint64_t delay = 4096ull << (qp->attr.timeout ? qp->attr.timeout : 31);
		if (!reliable) {
			complete_request(qp, w, 0, NULL);
			return DONE;
		}
		return wait_for(qp, w, false, delay, qp->attr.retry_cnt, !qp->attr.timeout,
			MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	}
	if (qp->type == IBV_QPT_XRC_SEND && !aim(peer, be32toh(*(uint32_t *)(w->bytes + 16)))) {
		responder_error(peer, IBV_EVENT_QP_ACCESS_ERR);
		return fail_request(qp, w, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	}
	if (peer->state == IBV_QPS_RTR && !peer->established) {
		peer->established = true;
		qp_async(peer, IBV_EVENT_COMM_EST);
	}
	switch (w->opcode) {
	case MLX5_OPCODE_NOP:
		complete_request(qp, w, 0, NULL);
		return DONE;
	case MLX5_OPCODE_SEND:
	case MLX5_OPCODE_SEND_IMM:
	case MLX5_OPCODE_SEND_INVAL:
	case MLX5_OPCODE_RDMA_WRITE:
	case MLX5_OPCODE_RDMA_WRITE_IMM: {
		bool write = w->opcode == MLX5_OPCODE_RDMA_WRITE || w->opcode == MLX5_OPCODE_RDMA_WRITE_IMM;
		error = gather(qp, w, start + (write ? 16 : 0), 0, &local);
		if (error)
			return fail_request(qp, w, error);
		if (write) {
			error = remote(peer, ra, local.total, IBV_ACCESS_REMOTE_WRITE, &far);
			if (error) {
				if (reliable) {
					responder_error(peer, IBV_EVENT_QP_ACCESS_ERR);
					return fail_request(qp, w, error);
				}
				complete_request(qp, w, 0, NULL);
				return DONE;
			}
		}
		if (w->opcode != MLX5_OPCODE_RDMA_WRITE && !can_take(peer, w, &local)) {
			if (!reliable) {
				complete_request(qp, w, 0, NULL);
				return DONE;
			}
			return wait_for(qp, w, true, rnr_delay[peer->attr.min_rnr_timer & 31] * 10000ull, qp->attr.rnr_retry,
				qp->attr.rnr_retry == 7, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
		}
		if (write)
			copy_segs(&local, &far, local.total);
		if (w->opcode != MLX5_OPCODE_RDMA_WRITE
		    && deliver(qp, w, peer, &local, w->opcode == MLX5_OPCODE_SEND_IMM) == FAILED)
			return FAILED;
		complete_request(qp, w, 0, NULL);
		return DONE;
	}
	case MLX5_OPCODE_RDMA_READ:
		error = gather(qp, w, start + 16, IBV_ACCESS_LOCAL_WRITE, &local);
		if (error)
			return fail_request(qp, w, error);
		error = !peer->attr.max_dest_rd_atomic ? MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR
			: remote(peer, ra, local.total, IBV_ACCESS_REMOTE_READ, &far);
		if (error) {
			responder_error(peer, IBV_EVENT_QP_ACCESS_ERR);
			return fail_request(qp, w, error);
		}
		if (qp->scatter_cqe && qp->sig_all && local.total && local.total <= 32 && qp->scq->cqe_size == 64) {
			char bytes[32];
			struct segs to = {.n = 1, .total = 32, .s = {{bytes, 32}}};
			copy_segs(&far, &to, local.total);
			complete_request(qp, w, local.total, bytes);
			return DONE;
		}
		copy_segs(&far, &local, local.total);
		complete_request(qp, w, local.total, NULL);
		return DONE;
	case MLX5_OPCODE_ATOMIC_CS:
	case MLX5_OPCODE_ATOMIC_FA: {
		struct mlx5_wqe_atomic_seg *at = (void *)(start + 16);
		uint64_t *target, old, value = be64toh(at->swap_add);
		error = gather(qp, w, start + 32, IBV_ACCESS_LOCAL_WRITE, &local);
		if (error)
			return fail_request(qp, w, error);
		error = be64toh(ra->raddr) & 7 || !peer->attr.max_dest_rd_atomic ? MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR
			: remote(peer, ra, 8, IBV_ACCESS_REMOTE_ATOMIC, &far);
		if (error) {
			responder_error(peer, IBV_EVENT_QP_ACCESS_ERR);
			return fail_request(qp, w, error);
		}
		target = (uint64_t *)far.s[0].at;
		if (w->opcode == MLX5_OPCODE_ATOMIC_FA) {
			old = __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);
		} else {
			old = be64toh(at->compare);
			__atomic_compare_exchange_n(target, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		}
		if (qp->scatter_cqe && qp->sig_all && qp->scq->cqe_size == 64) {
			complete_request(qp, w, 8, &old);
		} else {
			struct segs from = {.n = 1, .total = 8, .s = {{(char *)&old, 8}}};
			copy_segs(&from, &local, local.total < 8 ? local.total : 8);
			complete_request(qp, w, 8, NULL);
		}
		return DONE;
	}
	default:
		return fail_request(qp, w, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	}
}

enum outcome execute(struct qp *qp, struct wqe *w)
{
	enum outcome outcome = execute_aimed(qp, w);
	struct qp *peer = qp->type == IBV_QPT_XRC_SEND ? peer_of(qp->attr.dest_qp_num) : NULL;
	if (peer && peer->type == IBV_QPT_XRC_RECV) {
		peer->srq = NULL;
		peer->pd = NULL;
	}
	return outcome;
}
