/* The creation of completion queues and queue pairs, and their end. */
#include "efa.h"

int efa_create_cq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct efa_ibv_create_cq m;
	struct efa_ibv_create_cq_resp resp = {0};
	uint32_t entries = attr_in_number(h, UVERBS_ATTR_CREATE_CQ_CQE);
	struct efa_cq *efa;
	struct cq *cq;
	attr_in_copy(h, UVERBS_ATTR_UHW_IN, &m, sizeof(m));
	if (attr_has(h, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL) || !entries || entries & (entries - 1) || entries > 32768
	    || (m.cq_entry_size != 16 && m.cq_entry_size != 32) || m.num_sub_cqs != SUB_QUEUES)
		return EINVAL;
	efa = calloc(1, sizeof(*efa));
	if (!pages_new(&efa->pages, entries * m.cq_entry_size * SUB_QUEUES)) {
		free(efa);
		return ENOMEM;
	}
	efa->entries = entries;
	efa->entry_size = m.cq_entry_size;
	efa->with_source = m.flags & EFA_CREATE_CQ_WITH_SGID;
	cq = object_new(ctx, sizeof(*cq), O_CQ);
	object_events(h, &cq->o, UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	cq->efa = efa;
	cq->cqn = next_number++;
	cq->user = attr_in_number(h, UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
	cq->next = sim_cqs;
	sim_cqs = cq;
	resp.q_mmap_key = efa->pages.key;
	resp.q_mmap_size = efa->pages.size;
	resp.cq_idx = cq->cqn;
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out_u32(h, UVERBS_ATTR_CREATE_CQ_RESP_CQE, entries);
	attr_out_object(h, UVERBS_ATTR_CREATE_CQ_HANDLE, &cq->o);
	return 0;
}

void efa_cq_ends(struct cq *cq)
{
	if (cq->efa)
		pages_free(&cq->efa->pages);
	free(cq->efa);
}

/* Numbers have 16 bits, and libefa finds a queue pair by those that its table has room for. */
static int free_number(void)
{
	for (uint32_t n = 1; n < EFA_MAX_QP; n++) {
		struct qp *qp = sim_qps;
		while (qp && !(qp->efa && qp->qpn == n))
			qp = qp->next;
		if (!qp)
			return n;
	}
	return 0;
}

int efa_create_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct efa_ibv_create_qp m;
	struct efa_ibv_create_qp_resp resp = {.sq_db_offset = 0, .rq_db_offset = 4};
	struct pd *pd = (struct pd *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_PD_HANDLE), O_PD);
	struct cq *scq = (struct cq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE), O_CQ);
	struct cq *rcq = (struct cq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE), O_CQ);
	uint32_t type = attr_in_number(h, UVERBS_ATTR_CREATE_QP_TYPE);
	int number = free_number();
	struct efa_qp *efa;
	struct qp *qp;
	attr_in_copy(h, UVERBS_ATTR_UHW_IN, &m, sizeof(m));
	if (type != IBV_QPT_UD && (type != IBV_QPT_DRIVER || m.driver_qp_type != EFA_QP_DRIVER_TYPE_SRD))
		return EOPNOTSUPP;
	if (!pd || !scq || !rcq || m.sq_ring_size % 64 || m.rq_ring_size % 16)
		return EINVAL;
	if (!number)
		return ENOMEM;
	efa = calloc(1, sizeof(*efa));
	if (!pages_new(&efa->sends, m.sq_ring_size) || !pages_new(&efa->receives, m.rq_ring_size)
	    || !pages_new(&efa->doorbells, 8)) {
		pages_free(&efa->sends);
		pages_free(&efa->receives);
		free(efa);
		return ENOMEM;
	}
	efa->num_sends = m.sq_ring_size / 64;
	efa->num_receives = m.rq_ring_size / 16;
	efa->reliable = type == IBV_QPT_DRIVER;
	qp = object_new(ctx, sizeof(*qp), O_QP);
	object_events(h, &qp->o, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	qp->efa = efa;
	qp->qpn = number;
	qp->type = type;
	qp->pd = pd;
	qp->scq = scq;
	qp->rcq = rcq;
	used(&pd->o);
	used(&scq->o);
	used(&rcq->o);
	attr_in_copy(h, UVERBS_ATTR_CREATE_QP_CAP, &qp->cap, sizeof(qp->cap));
	qp->cap.max_inline_data = INLINE_BYTES;
	qp->user = attr_in_number(h, UVERBS_ATTR_CREATE_QP_USER_HANDLE);
	qp->next = sim_qps;
	sim_qps = qp;
	resp.rq_mmap_key = efa->receives.key;
	resp.rq_mmap_size = efa->receives.size;
	resp.rq_db_mmap_key = resp.sq_db_mmap_key = efa->doorbells.key;
	resp.llq_desc_mmap_key = efa->sends.key;
	resp.send_sub_cq_idx = SENDS;
	resp.recv_sub_cq_idx = RECEIVES;
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out(h, UVERBS_ATTR_CREATE_QP_RESP_CAP, &qp->cap, sizeof(qp->cap));
	attr_out_u32(h, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->qpn);
	attr_out_object(h, UVERBS_ATTR_CREATE_QP_HANDLE, &qp->o);
	return 0;
}

void efa_qp_reset(struct qp *qp)
{
	memset(qp->efa->doorbells.at, 0, 8);
	qp->efa->since = 0;
}

void efa_qp_ends(struct qp *qp)
{
	if (qp->efa) {
		pages_free(&qp->efa->sends);
		pages_free(&qp->efa->receives);
		pages_free(&qp->efa->doorbells);
	}
	free(qp->efa);
}
