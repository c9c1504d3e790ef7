/* Reads a send request from its queue, completes it, fails it, or lets it wait for another attempt. */
#include "../wire/wire.h"
#include "adapter.h"

void to_error(struct qp *qp)
{
	qp->state = IBV_QPS_ERR;
	qp->wait_until = 0;
}

void responder_error(struct qp *qp, enum ibv_event_type event)
{
	to_error(qp);
	qp_async(qp, event);
}

/* ---- sends ---- */

bool parse_request(struct qp *qp, struct wqe *w)
{
	uint8_t *start = (uint8_t *)qp->sq, *end = start + (uint64_t)qp->sq_cnt * 64;
	uint8_t *at = start + (uint64_t)(qp->sq_ci & (qp->sq_cnt - 1)) * 64;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)at;
	uint32_t word = be32toh(ctrl->opmod_idx_opcode);
	size_t size, first;
	w->ds = be32toh(ctrl->qpn_ds) & 0x3f;
	w->opcode = word & 0xff;
	w->index = word >> 8 & 0xffff;
	w->flags = ctrl->fm_ce_se;
	w->imm = ctrl->imm;
	size = w->ds * 16;
	first = (size_t)(end - at) < size ? (size_t)(end - at) : size;
	memcpy(w->bytes, at, first);
	memcpy(w->bytes + first, start, size - first);
	w->end = w->bytes + size;
	return w->index == qp->sq_ci && be32toh(ctrl->qpn_ds) >> 8 == qp->qpn && w->ds;
}

static uint64_t carried_out;

/* How many send requests the queue pairs of this process have done so far. */
EXPORT uint64_t mlx5sim_requests(void)
{
	uint64_t n;
	pthread_mutex_lock(&sim_lock);
	n = carried_out;
	pthread_mutex_unlock(&sim_lock);
	return n;
}

void complete_request(struct qp *qp, struct wqe *w, uint32_t length, const void *scattered)
{
	if (qp->far) {
		far_done(qp, length);
		return;
	}
	carried_out++;
	qp->sq_ci += (w->ds + 3) / 4;
	qp->tries = 0;
	qp->wait_until = 0;
	qp->waits_for_peer = qp->waits_for_receive = false;
	if (w->flags & MLX5_WQE_CTRL_CQ_UPDATE || qp->sig_all) {
		struct mlx5_cqe64 cqe = {0};
		if (scattered)
			memcpy(&cqe, scattered, length);
		cqe.srqn_uidx = htobe32(qp->uidx);
		cqe.byte_cnt = htobe32(length);
		cqe.sop_drop_qpn = htobe32((uint32_t)w->opcode << 24 | qp->qpn);
		cqe.wqe_counter = htobe16(w->index);
		put_cqe(qp->scq, &cqe, MLX5_CQE_REQ, scattered ? MLX5_INLINE_SCATTER_32 : 0, false);
	}
}

enum outcome fail_request(struct qp *qp, struct wqe *w, uint8_t syndrome)
{
	if (qp->far)
		return far_failed(qp, syndrome);
	TRACE("QP %x: opcode %x fails with syndrome %x\n", qp->qpn, w->opcode, syndrome);
	put_error(qp, qp->scq, MLX5_CQE_REQ_ERR, w->index, w->opcode, syndrome);
	qp->sq_ci += (w->ds + 3) / 4;
	to_error(qp);
	return FAILED;
}

/* In units of 10 us, from the InfiniBand specification. */
const uint32_t rnr_delay[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
	6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

enum outcome wait_for(struct qp *qp, struct wqe *w, bool receive, uint64_t delay, int limit, bool infinite,
	uint8_t syndrome)
{
	uint64_t t = sim_now();
	bool *waits = receive ? &qp->waits_for_receive : &qp->waits_for_peer;
	if (qp->far)
		return far_waits(qp, receive, delay);
	if (!*waits) {
		qp->tries = 0;
		qp->waits_for_peer = qp->waits_for_receive = false;
		*waits = true;
		qp->wait_until = t + delay;
	} else if (t >= qp->wait_until) {
		if (!infinite && qp->tries++ >= limit)
			return fail_request(qp, w, syndrome);
		qp->wait_until = t + delay;
	}
	return WAIT;
}

struct qp *peer_of(uint32_t qpn)
{
	for (struct qp *qp = sim_qps; qp; qp = qp->next)
		if (qp->qpn == qpn)
			return qp;
	return NULL;
}
