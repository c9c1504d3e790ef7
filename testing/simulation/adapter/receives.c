/* Takes receives from the queues that libmlx5 fills, and completes them. */
#include "adapter.h"

static void take_segs(struct qp *qp, struct pd *pd, struct mlx5_wqe_data_seg *d, int max, struct receive *r)
{
	(void)qp;
	for (int i = 0; i < max && be32toh(d[i].lkey) != MLX5_INVALID_LKEY; i++)
		if (d[i].byte_count && add_seg(&r->segs, pd, be32toh(d[i].lkey), be64toh(d[i].addr), be32toh(d[i].byte_count),
				IBV_ACCESS_LOCAL_WRITE, 0))
			r->bad = true;
}

/* A shared receive queue for XRC or with tags has its own. */
struct cq *receive_cq(struct qp *qp)
{
	return qp->srq && qp->srq->cq ? qp->srq->cq : qp->rcq;
}

static bool srq_empty(struct srq *srq)
{
	return (uint16_t)be32toh(atomic_load_explicit(srq->db, memory_order_acquire)) == srq->taken;
}

bool has_receive(struct qp *qp)
{
	if (qp->srq)
		return !srq_empty(qp->srq);
	return (be32toh(atomic_load_explicit(&qp->db[0], memory_order_acquire)) & 0xffff) != qp->rq_ci;
}

void take_receive(struct qp *qp, struct receive *r)
{
	r->segs.n = 0;
	r->segs.total = 0;
	r->bad = false;
	r->app = r->app_op = 0;
	if (qp->srq) {
		struct srq *srq = qp->srq;
		char *wqe = srq->buf + ((uint64_t)srq->head << srq->shift);
		r->index = srq->head;
		take_segs(qp, srq->pd, (void *)(wqe + 16), ((1 << srq->shift) - 16) / 16, r);
		srq->head = be16toh(((struct mlx5_wqe_srq_next_seg *)wqe)->next_wqe_index);
		srq->taken++;
		if (srq->limit && (uint16_t)(be32toh(*srq->db) - srq->taken) < srq->limit) {
			srq->limit = 0;
			event_push(srq->o.async, srq, &srq->async_reported, srq->user, IBV_EVENT_SRQ_LIMIT_REACHED);
		}
	} else {
		char *wqe = qp->rq + ((uint64_t)(qp->rq_ci & (qp->rq_cnt - 1)) << qp->rq_shift);
		r->index = qp->rq_ci++;
		take_segs(qp, qp->pd, (void *)wqe, 1 << (qp->rq_shift - 4), r);
	}
}

void put_receive(struct qp *qp, struct receive *r, struct qp *from, int opcode, uint32_t imm, uint32_t length,
	int flags, const void *scattered, bool solicited)
{
	struct mlx5_cqe64 cqe = {0};
	if (scattered)
		memcpy(&cqe, scattered, length);
	else if (qp->type == IBV_QPT_UD)
		cqe.flags_rqpn = htobe32(1u << 28 | from->qpn);
	else
		cqe.flags_rqpn = htobe32(from->qpn);
	cqe.srqn_uidx = htobe32(qp->srq && qp->srq->cq ? qp->srq->uidx : qp->uidx);
	cqe.imm_inval_pkey = imm;
	cqe.app = r->app;
	cqe.app_op = r->app_op;
	cqe.byte_cnt = htobe32(length);
	cqe.sop_drop_qpn = htobe32(qp->qpn);
	cqe.wqe_counter = htobe16(r->index);
	put_cqe(receive_cq(qp), &cqe, opcode, flags, solicited);
}
