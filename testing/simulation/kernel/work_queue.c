/* Work queues and their indirection tables: they take receives, but no packets come, because none are simulated. */
#include "kernel.h"

int create_wq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct pd *pd = (struct pd *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_WQ_PD_HANDLE), O_PD);
	struct cq *cq = (struct cq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE), O_CQ);
	uint32_t max_wr = attr_in_number(h, UVERBS_ATTR_CREATE_WQ_MAX_WR);
	struct mlx5_ib_create_wq_resp resp = {.response_length = sizeof(resp)};
	struct wq *wq;
	if (!pd || !cq || attr_in_number(h, UVERBS_ATTR_CREATE_WQ_TYPE) != IBV_WQT_RQ || !max_wr)
		return EINVAL;
	wq = object_new(ctx, sizeof(*wq), O_WQ);
	object_events(h, &wq->o, UVERBS_ATTR_CREATE_WQ_EVENT_FD);
	wq->pd = pd;
	wq->cq = cq;
	used(&pd->o);
	used(&cq->o);
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out_u32(h, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, max_wr);
	attr_out_u32(h, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, attr_in_number(h, UVERBS_ATTR_CREATE_WQ_MAX_SGE));
	attr_out_u32(h, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, next_number++);
	attr_out_object(h, UVERBS_ATTR_CREATE_WQ_HANDLE, &wq->o);
	return 0;
}

int modify_wq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_ex_modify_wq *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct wq *wq = (struct wq *)sim_obj(ctx, req->wq_handle, O_WQ);
	if (!wq || req->wq_state > IBV_WQS_ERR || (req->attr_mask & IBV_WQ_ATTR_CURR_STATE && req->curr_wq_state != wq->state))
		return EINVAL;
	if (req->attr_mask & IBV_WQ_ATTR_STATE)
		wq->state = req->wq_state;
	return 0;
}

int destroy_wq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct obj *wq = sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_DESTROY_WQ_HANDLE), O_WQ);
	attr_out_u32(h, UVERBS_ATTR_DESTROY_WQ_RESP, 0);
	return wq ? object_destroy(wq) : EINVAL;
}

int create_table(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_ex_create_rwq_ind_table *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {.response_length = sizeof(resp)};
	struct wq_table *table;
	if (req->log_ind_tbl_size > MAX_LOG_TABLE)
		return EINVAL;
	for (uint32_t i = 0; i < 1u << req->log_ind_tbl_size; i++)
		if (!sim_obj(ctx, req->wq_handles[i], O_WQ))
			return EINVAL;
	table = object_new(ctx, sizeof(*table), O_TABLE);
	table->size = 1 << req->log_ind_tbl_size;
	for (uint32_t i = 0; i < table->size; i++) {
		table->wqs[i] = sim_obj(ctx, req->wq_handles[i], O_WQ);
		used(table->wqs[i]);
	}
	resp.ind_tbl_handle = table->o.handle;
	resp.ind_tbl_num = next_number++;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}
