/* What the device and its port are, and which of the commands are other ones than those of mlx5. */
#include "efa.h"
#include <unistd.h>

static int efa_get_context(struct ib_uverbs_ioctl_hdr *h)
{
	struct efa_ibv_alloc_ucontext_resp resp = {
		.cmds_supp_udata_mask = EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE | EFA_USER_CMDS_SUPP_UDATA_CREATE_AH,
		.sub_cqs_per_cq = SUB_QUEUES,
		.inline_buf_size = INLINE_BYTES,
		.max_llq_size = EFA_MAX_WR * 64,
		.max_tx_batch = 16,
		.min_sq_wr = 8,
	};
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out_u32(h, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, sysconf(_SC_NPROCESSORS_ONLN));
	attr_out_u64(h, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	engine_start();
	return 0;
}

int efa_query_device(struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_ex_query_device_resp r = {
		.base = {
			.node_guid = sim_node_guid,
			.max_mr_size = 1ull << 40,
			.page_size_cap = 0xfffffffffffff000,
			.vendor_id = 0x1d0f,
			.vendor_part_id = 0xefa1,
			.max_qp = EFA_MAX_QP,
			.max_qp_wr = EFA_MAX_WR,
			.max_sge = 2,
			.max_sge_rd = 1,
			.max_cq = 512,
			.max_cqe = 32768,
			.max_mr = 32768,
			.max_pd = 256,
			.max_ah = 1024,
			.max_pkeys = 1,
			.phys_port_cnt = 1,
		},
		.response_length = sizeof(r),
	};
	struct efa_ibv_ex_query_device_resp m = {
		.max_sq_wr = EFA_MAX_WR,
		.max_rq_wr = EFA_MAX_WR,
		.max_sq_sge = 2,
		.max_rq_sge = 2,
		.max_rdma_size = EFA_MAX_TRANSFER,
		.device_caps = EFA_QUERY_DEVICE_CAPS_RDMA_READ | EFA_QUERY_DEVICE_CAPS_RNR_RETRY
			| EFA_QUERY_DEVICE_CAPS_CQ_WITH_SGID | CAPS_RDMA_WRITE,
	};
	attr_out(h, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	attr_out(h, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
	return 0;
}

static int efa_query_port(struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_query_port_resp_ex r = {
		.legacy_resp = {
			.max_msg_sz = EFA_MTU,
			.gid_tbl_len = 1,
			.pkey_tbl_len = 1,
			.lmc = 1,
			.state = IBV_PORT_ACTIVE,
			.max_mtu = IBV_MTU_4096,
			.active_mtu = IBV_MTU_4096,
			.max_vl_num = 1,
			.active_width = 2,
			.active_speed = 32,
			.phys_state = 5,
			.link_layer = IBV_LINK_LAYER_UNSPECIFIED,
		},
	};
	if (attr_in_number(h, UVERBS_ATTR_QUERY_PORT_PORT_NUM) != 1)
		return EINVAL;
	attr_out(h, UVERBS_ATTR_QUERY_PORT_RESP, &r, sizeof(r));
	return 0;
}

static struct ib_uverbs_gid_entry gid(void)
{
	struct ib_uverbs_gid_entry e = {.port_num = 1, .gid_type = IBV_GID_TYPE_IB};
	memcpy(e.gid, sim_gids[0], 16);
	return e;
}

static int efa_query_gid_table(struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_gid_entry e = gid();
	attr_out(h, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, &e, sizeof(e));
	attr_out_u64(h, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 1);
	return 0;
}

static int efa_query_gid_entry(struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_gid_entry e = gid();
	if (attr_in_number(h, UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != 1
	    || attr_in_number(h, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX))
		return EINVAL;
	attr_out(h, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
	return 0;
}

static int efa_alloc_pd(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct pd *pd = object_new(ctx, sizeof(*pd), O_PD);
	struct efa_ibv_alloc_pd_resp m = {.pdn = pd->o.handle};
	struct ib_uverbs_alloc_pd_resp resp = {.pd_handle = pd->o.handle};
	pd->pdn = m.pdn;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	attr_out(h, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
	return 0;
}

static int efa_create_ah(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_create_ah *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct pd *pd = (struct pd *)sim_obj(ctx, req->pd_handle, O_PD);
	struct efa_ibv_create_ah_resp m = {0};
	struct ib_uverbs_create_ah_resp resp = {0};
	struct ah *ah;
	if (!pd || req->attr.port_num != 1)
		return EINVAL;
	ah = object_new(ctx, sizeof(*ah), O_AH);
	ah->pd = pd;
	used(&pd->o);
	memcpy(ah->gid, req->attr.grh.dgid, 16);
	m.efa_address_handle = resp.ah_handle = ah->o.handle;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	attr_out(h, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
	return 0;
}

#define METHOD(object, method) ((uint32_t)(object) << 16 | (method))

/* Carries out a command, or returns false if it is none of its own. */
bool efa_command(struct context *ctx, struct ib_uverbs_ioctl_hdr *h, int *error)
{
	switch (METHOD(h->object_id, h->method_id)) {
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT): *error = efa_get_context(h); return true;
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT): *error = efa_query_port(h); return true;
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE): *error = efa_query_gid_table(h); return true;
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY): *error = efa_query_gid_entry(h); return true;
	case METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE): *error = efa_create_cq(ctx, h); return true;
	case METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE): *error = efa_create_qp(ctx, h); return true;
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE): break;
	default: return false;
	}
	switch (attr_in_number(h, UVERBS_ATTR_WRITE_CMD)) {
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE: *error = efa_query_device(h); return true;
	case IB_USER_VERBS_CMD_ALLOC_PD: *error = efa_alloc_pd(ctx, h); return true;
	case IB_USER_VERBS_CMD_CREATE_AH: *error = efa_create_ah(ctx, h); return true;
	default: return false;
	}
}
