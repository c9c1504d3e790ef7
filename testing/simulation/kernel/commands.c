/* Which function carries out which command. */
#include "kernel.h"

static int invoke_write(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	uint32_t command = attr_in_number(h, UVERBS_ATTR_WRITE_CMD);
	TRACE("write command %x\n", command);
	if (!attr_has(h, UVERBS_ATTR_CORE_IN) && !attr_has(h, UVERBS_ATTR_CORE_OUT))
		return ENOSPC;
	switch (command) {
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE:
		query_device(h);
		return 0;
	case IB_USER_VERBS_CMD_ALLOC_PD: {
		struct pd *pd = object_new(ctx, sizeof(*pd), O_PD);
		struct mlx5_ib_alloc_pd_resp m = {.pdn = next_number};
		struct ib_uverbs_alloc_pd_resp resp = {.pd_handle = pd->o.handle};
		pd->pdn = next_number++;
		attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
		attr_out(h, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
		return 0;
	}
	case IB_USER_VERBS_CMD_REG_MR: return reg_mr(ctx, h);
	case IB_USER_VERBS_CMD_REREG_MR: return rereg_mr(ctx, h);
	case IB_USER_VERBS_CMD_ALLOC_MW: return alloc_mw(ctx, h);
	case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL: {
		struct ib_uverbs_create_comp_channel_resp resp = {
			.fd = event_file_new(sizeof(struct ib_uverbs_comp_event_desc))->fd,
		};
		attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
		return 0;
	}
	case IB_USER_VERBS_CMD_RESIZE_CQ: return resize_cq(ctx, h);
	case IB_USER_VERBS_CMD_MODIFY_QP:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP: return modify_qp(ctx, h);
	case IB_USER_VERBS_CMD_QUERY_QP: return query_qp(ctx, h);
	case IB_USER_VERBS_CMD_MODIFY_SRQ: return modify_srq(ctx, h);
	case IB_USER_VERBS_CMD_QUERY_SRQ: return query_srq(ctx, h);
	case IB_USER_VERBS_CMD_CREATE_AH: return create_ah(ctx, h);
	case IB_USER_VERBS_CMD_ATTACH_MCAST: return attach_group(ctx, h, true);
	case IB_USER_VERBS_CMD_DETACH_MCAST: return attach_group(ctx, h, false);
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ: return 0; /* moderation */
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ: return modify_wq(ctx, h);
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL: return create_table(ctx, h);
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW: return create_flow(ctx, h);
	case IB_USER_VERBS_CMD_OPEN_QP: return open_qp(ctx, h);
	case IB_USER_VERBS_CMD_OPEN_XRCD: return open_xrcd(ctx, h);
	default:
		TRACE("write command %x is not simulated\n", command);
		return EOPNOTSUPP;
	}
}

/* The first file is for all objects that are created without one of their own: those of contexts that were imported. */
static int alloc_async(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct event_file *file = event_file_new(sizeof(struct ib_uverbs_async_event_desc));
	if (!ctx->async)
		ctx->async = file;
	attr(h, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)->data_s64 = file->fd;
	return 0;
}

static int query_pd(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct pd *pd = (struct pd *)sim_obj(ctx, attr_in_number(h, MLX5_IB_ATTR_QUERY_PD_HANDLE), O_PD);
	if (!pd)
		return EINVAL;
	attr_out_u32(h, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->pdn);
	return 0;
}

#define METHOD(object, method) ((uint32_t)(object) << 16 | (method))

static int dispatch(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	switch (METHOD(h->object_id, h->method_id)) {
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE): return invoke_write(ctx, h);
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT): get_context(ctx, h); return 0;
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT): return query_context(ctx, h);
	case METHOD(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY): return query_pd(ctx, h);
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT):
		return query_port(h, attr_in_number(h, UVERBS_ATTR_QUERY_PORT_PORT_NUM));
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE): return query_gid_table(h);
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY): return query_gid_entry(h);
	case METHOD(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC):
		return alloc_async(ctx, h);
	case METHOD(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY): return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_PD_HANDLE, O_PD);
	case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY): return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_MR_HANDLE, O_MR);
	case METHOD(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY): return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_MW_HANDLE, O_MW);
	case METHOD(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY): return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_AH_HANDLE, O_AH);
	case METHOD(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE): return object_destroy_by(ctx, h, UVERBS_ATTR_FREE_DM_HANDLE, O_DM);
	case METHOD(UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY):
		return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_XRCD_HANDLE, O_XRCD);
	case METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY):
		return object_destroy_by(ctx, h, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, O_UAR);
	case METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY): {
		struct cq *cq = (struct cq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_DESTROY_CQ_HANDLE), O_CQ);
		struct ib_uverbs_destroy_cq_resp resp = {0};
		if (!cq || cq->o.users)
			return cq ? EBUSY : EINVAL;
		event_purge(cq->channel, cq);
		event_purge(cq->o.async, cq);
		resp.comp_events_reported = cq->comp_reported;
		resp.async_events_reported = cq->async_reported;
		attr_out(h, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
		return object_destroy(&cq->o);
	}
	case METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY): {
		uint64_t handle = attr_in_number(h, UVERBS_ATTR_DESTROY_QP_HANDLE);
		struct qp *qp = qp_of(ctx, handle);
		struct ib_uverbs_destroy_qp_resp resp = {0};
		if (qp) {
			event_purge(qp->o.async, qp);
			resp.events_reported = qp->async_reported;
		}
		attr_out(h, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
		return qp_close(ctx, handle);
	}
	case METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY): {
		struct srq *srq = (struct srq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_DESTROY_SRQ_HANDLE), O_SRQ);
		struct ib_uverbs_destroy_srq_resp resp = {0};
		if (!srq || srq->o.users)
			return srq ? EBUSY : EINVAL;
		event_purge(srq->o.async, srq);
		resp.events_reported = srq->async_reported;
		attr_out(h, UVERBS_ATTR_DESTROY_SRQ_RESP, &resp, sizeof(resp));
		return object_destroy(&srq->o);
	}
	case METHOD(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE): return create_wq(ctx, h);
	case METHOD(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY): return destroy_wq(ctx, h);
	case METHOD(UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY):
		return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, O_TABLE);
	case METHOD(UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY):
		return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_FLOW_HANDLE, O_FLOW);
	case METHOD(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE): return create_action(ctx, h);
	case METHOD(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY): return modify_action(ctx, h);
	case METHOD(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY):
		return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, O_ACTION);
	case METHOD(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE): return create_counters(ctx, h);
	case METHOD(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ): return read_counters(ctx, h);
	case METHOD(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY):
		return object_destroy_by(ctx, h, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, O_COUNTERS);
	case METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE): return create_cq(ctx, h);
	case METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE): return create_qp(ctx, h);
	case METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE): return create_srq(ctx, h);
	case METHOD(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC): return alloc_dm(ctx, h);
	case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR): return reg_dma_buffer(ctx, h);
	case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG): return reg_dm_mr(ctx, h);
	case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR): return query_mr(ctx, h);
	case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR): return 0; /* pages come on demand anyway */
	case METHOD(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY): return query_dm(ctx, h);
	case METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC): return alloc_uar(ctx, h);
	case METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER): return devx_other(ctx, h);
	case METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN): return devx_query_eqn(h);
	case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE): return devx_create(ctx, h);
	case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY): return devx_query(ctx, h);
	case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY): return devx_modify(ctx, h);
	case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY):
		return object_destroy_by(ctx, h, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, O_DEVX);
	case METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG): return umem_reg(ctx, h);
	case METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG):
		return object_destroy_by(ctx, h, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, O_UMEM);
	default:
		TRACE("object %x method %x is not simulated\n", h->object_id, h->method_id);
		return EPROTONOSUPPORT;
	}
}

/* Whether a command asks the adapter, which cannot answer once it is broken. The end of an object always succeeds. */
static bool asks_adapter(struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_modify_qp modify;
	switch (METHOD(h->object_id, h->method_id)) {
	case METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE):
	case METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE):
	case METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE):
	case METHOD(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC):
	case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG):
		return true;
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE):
		break;
	default:
		return false;
	}
	switch (attr_in_number(h, UVERBS_ATTR_WRITE_CMD)) {
	case IB_USER_VERBS_CMD_ALLOC_PD:
	case IB_USER_VERBS_CMD_REG_MR:
	case IB_USER_VERBS_CMD_REREG_MR:
	case IB_USER_VERBS_CMD_ALLOC_MW:
	case IB_USER_VERBS_CMD_RESIZE_CQ:
	case IB_USER_VERBS_CMD_QUERY_QP:
	case IB_USER_VERBS_CMD_QUERY_SRQ:
		return true;
	case IB_USER_VERBS_CMD_MODIFY_QP:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP:
		attr_in_copy(h, UVERBS_ATTR_CORE_IN, &modify, sizeof(modify));
		return !(modify.attr_mask & IBV_QP_STATE)
			|| (modify.qp_state != IBV_QPS_ERR && modify.qp_state != IBV_QPS_RESET);
	default:
		return false;
	}
}

int sim_ioctl(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	int error;
	pthread_mutex_lock(&sim_lock);
	if (device_broken() && asks_adapter(h))
		error = EIO;
	else if (!ctx->efa || !efa_command(ctx, h, &error))
		error = dispatch(ctx, h);
	pthread_mutex_unlock(&sim_lock);
	TRACE("object %x method %x: %d\n", h->object_id, h->method_id, error);
	return error;
}
