/* The commands of shared receive queues. */
#include "kernel.h"

int create_srq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct mlx5_ib_create_srq m;
	struct mlx5_ib_create_srq_resp resp = {0};
	struct pd *pd = (struct pd *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE), O_PD);
	struct srq *srq;
	uint32_t max_sge = attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
	uint32_t tags = attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS);
	uint32_t type = attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_TYPE);
	struct cq *cq = (struct cq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE), O_CQ);
	struct obj *xrcd = sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE), O_XRCD);
	if (!pd || max_sge > 31 || (type == IB_UVERBS_SRQT_XRC && !xrcd) || (type != IB_UVERBS_SRQT_BASIC && !cq))
		return EINVAL;
	if (type == IB_UVERBS_SRQT_TM && (!tags || tags >= 1 << LOG_MAX_TAGS))
		return EINVAL;
	attr_in_copy(h, UVERBS_ATTR_UHW_IN, &m, sizeof(m));
	srq = object_new(ctx, sizeof(*srq), O_SRQ);
	object_events(h, &srq->o, UVERBS_ATTR_CREATE_SRQ_EVENT_FD);
	srq->pd = pd;
	used(&pd->o);
	if (type != IB_UVERBS_SRQT_BASIC) {
		srq->cq = cq;
		used(&cq->o);
	}
	if (type == IB_UVERBS_SRQT_XRC) {
		srq->xrcd = xrcd;
		used(xrcd);
	}
	if (type == IB_UVERBS_SRQT_TM)
		srq->tags = tag_list_new(tags);
	srq->next = sim_srqs;
	sim_srqs = srq;
	srq->srqn = next_number++;
	srq->uidx = m.uidx;
	srq->user_max = attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_MAX_WR);
	for (srq->shift = 5; 1u << srq->shift < 16 + max_sge * 16; srq->shift++)
		;
	srq->max = srq->user_max;
	srq->limit = attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_LIMIT);
	srq->buf = (char *)(uintptr_t)m.buf_addr;
	srq->db = (void *)(uintptr_t)m.db_addr;
	srq->user = attr_in_number(h, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
	resp.srqn = srq->srqn;
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out_u32(h, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, srq->user_max);
	attr_out_u32(h, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, max_sge);
	attr_out_u32(h, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, srq->srqn);
	attr_out_object(h, UVERBS_ATTR_CREATE_SRQ_HANDLE, &srq->o);
	return 0;
}

int modify_srq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_modify_srq *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct srq *srq = (struct srq *)sim_obj(ctx, req->srq_handle, O_SRQ);
	if (!srq || req->attr_mask & IBV_SRQ_MAX_WR) /* mlx5 cannot resize them */
		return EINVAL;
	if (req->attr_mask & IBV_SRQ_LIMIT) {
		if (req->srq_limit >= srq->max)
			return EINVAL;
		srq->limit = req->srq_limit;
	}
	return 0;
}

int query_srq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_query_srq *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct srq *srq = (struct srq *)sim_obj(ctx, req->srq_handle, O_SRQ);
	struct ib_uverbs_query_srq_resp resp = {0};
	if (!srq)
		return EINVAL;
	resp.max_wr = srq->user_max;
	resp.max_sge = ((1u << srq->shift) - 16) / 16;
	resp.srq_limit = srq->limit;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}
