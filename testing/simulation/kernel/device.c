/* What the device and its port are: GET_CONTEXT and the queries. */
#include <stdlib.h>
#include "kernel.h"
#include <net/if.h>
#include <unistd.h>

/* Each address for RoCE v1 and v2: link-local, the ones of the port, then the loopback addresses of the machine. */
const uint8_t sim_gids[][16] = {
#define BOTH(...) {__VA_ARGS__}, {__VA_ARGS__}
	BOTH(0xfe, 0x80, [8] = 0xba, 0x3f, 0xd2, 0xff, 0xfe, 0x12, 0x34, 0x56),
	BOTH([10] = 0xff, 0xff, 192, 0, 2, 1),
	BOTH(0x20, 0x01, 0x0d, 0xb8, [15] = 1),
	BOTH([10] = 0xff, 0xff, 127, 0, 0, 1),
	BOTH([15] = 1),
#undef BOTH
};
const int sim_num_gids = sizeof(sim_gids) / sizeof(sim_gids[0]);
static bool is_infiniband;
#define GID_TABLE_LENGTH 255
#define NODE_GUID 0xb83fd20300123456
const uint64_t sim_node_guid = __builtin_bswap64(NODE_GUID);

static uint32_t max_shared_receives(void)
{
	const char *set = getenv("MLX5SIM_SHARED_RECEIVES");
	return set ? atoi(set) : (1 << LOG_MAX_SRQ_SIZE) - 1;
}

static struct mlx5_ib_alloc_ucontext_resp context_response(const struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	struct mlx5_ib_alloc_ucontext_resp resp = {
		.qp_tab_size = 1 << LOG_MAX_QP,
		.bf_reg_size = 1 << LOG_BLUEFLAME,
		.cache_line_size = 64,
		.max_sq_desc_sz = MAX_SEND_REQUEST,
		.max_rq_desc_sz = MAX_RECEIVE_REQUEST,
		.max_send_wqebb = 1 << LOG_MAX_QP_SIZE,
		.max_recv_wr = 1 << LOG_MAX_QP_SIZE,
		.max_srq_recv_wr = max_shared_receives(),
		.num_ports = 1,
		.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY | MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE
			| MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET,
		.response_length = sizeof(resp),
		.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.eth_min_inline = MLX5_USER_INLINE_MODE_NONE,
		.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1,
		.log_uar_size = 12,
		.num_uars_per_page = 1,
		.dump_fill_mkey = DUMP_FILL_MKEY,
		.num_dyn_bfregs = 512,
	};
	resp.cqe_version = req->max_cqe_version < 1 ? req->max_cqe_version : 1;
	if (!(req->lib_caps & MLX5_LIB_CAP_DYN_UAR))
		resp.tot_bfregs = req->total_num_bfregs;
	return resp;
}

void get_context(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct mlx5_ib_alloc_ucontext_resp resp;
	attr_in_copy(h, UVERBS_ATTR_UHW_IN, &ctx->request, sizeof(ctx->request));
	ctx->opened = true;
	resp = context_response(&ctx->request);
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out_u32(h, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, sysconf(_SC_NPROCESSORS_ONLN));
	attr_out_u64(h, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	engine_start();
}

int query_context(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct mlx5_ib_alloc_ucontext_resp resp = context_response(&ctx->request);
	if (!ctx->opened)
		return EINVAL;
	attr_out(h, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp, sizeof(resp));
	attr_out_u32(h, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, sysconf(_SC_NPROCESSORS_ONLN));
	attr_out_u64(h, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	return 0;
}

void query_device(struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_ex_query_device_resp r = {
		.base = {
			.fw_ver = 20ull << 32 | 31 << 16 | 1014,
			.node_guid = sim_node_guid,
			.sys_image_guid = sim_node_guid,
			.max_mr_size = ~0ull,
			.page_size_cap = 0xfffffffffffff000,
			.vendor_id = 0x15b3,
			.vendor_part_id = 0x101b,
			.hw_ver = 0,
			.max_qp = 1 << LOG_MAX_QP,
			.max_qp_wr = 1 << LOG_MAX_QP_SIZE,
			/* as of a ConnectX-6 with Linux 6.1, less local DMA and the features of Ethernet queues */
			.device_cap_flags = IB_UVERBS_DEVICE_BAD_PKEY_CNTR | IB_UVERBS_DEVICE_BAD_QKEY_CNTR
				| IB_UVERBS_DEVICE_AUTO_PATH_MIG | IB_UVERBS_DEVICE_CHANGE_PHY_PORT
				| IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT | IB_UVERBS_DEVICE_SYS_IMAGE_GUID
				| IB_UVERBS_DEVICE_RC_RNR_NAK_GEN | IB_UVERBS_DEVICE_MEM_WINDOW
				| IB_UVERBS_DEVICE_XRC | IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS
				| IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B
				| IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING,
			.max_sge = 30,
			.max_sge_rd = 30,
			.max_cq = 1 << LOG_MAX_CQ,
			.max_cqe = (1 << LOG_MAX_CQ_SIZE) - 1,
			.max_mr = 1 << LOG_MAX_MKEY,
			.max_pd = 1 << LOG_MAX_PD,
			.max_qp_rd_atom = 1 << LOG_MAX_READS,
			.max_res_rd_atom = 1 << 22,
			.max_qp_init_rd_atom = 1 << LOG_MAX_READS,
			.atomic_cap = IBV_ATOMIC_HCA,
			.max_mw = 1 << LOG_MAX_MKEY,
			.max_mcast_grp = 1 << LOG_MAX_GROUPS,
			.max_mcast_qp_attach = 240,
			.max_total_mcast_qp_attach = 503316480,
			.max_ah = INT32_MAX,
			.max_srq = 1 << LOG_MAX_SRQ,
			.max_srq_wr = max_shared_receives(),
			.max_srq_sge = 31,
			.max_pkeys = 1,
			.local_ca_ack_delay = ACK_DELAY,
			.phys_port_cnt = 1,
		},
		.response_length = sizeof(r),
		.timestamp_mask = ~0ull,
		.hca_core_clock = CLOCK_KHZ,
		.max_wq_type_rq = 1 << 23,
		.rss_caps = {
			.supported_qpts = 1 << IBV_QPT_RAW_PACKET,
			.max_rwq_indirection_tables = 1 << 20,
			.max_rwq_indirection_table_size = 1 << MAX_LOG_TABLE,
		},
		.cq_moderation_caps = {.max_cq_moderation_count = 65535, .max_cq_moderation_period = 4095},
		.max_dm_size = DM_SIZE,
		.tm_caps = {.max_num_tags = (1 << LOG_MAX_TAGS) - 1, .max_ops = 1 << LOG_MAX_QP_SIZE, .max_sge = 1},
		.odp_caps = {
			.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
			.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE
				| IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC,
		},
	};
	struct mlx5_ib_query_device_resp m = {
		.response_length = sizeof(m),
		.packet_pacing_caps = {
			.qp_rate_limit_min = 1,
			.qp_rate_limit_max = 200000000,
			.supported_qpts = 1 << IBV_QPT_RC | 1 << IBV_QPT_RAW_PACKET,
			.cap_flags = MLX5_IB_PP_SUPPORT_BURST,
		},
	};
	r.device_cap_flags_ex = r.base.device_cap_flags;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	attr_out(h, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
}

/* The port of devices that are opened afterwards is one of InfiniBand, or of Ethernet again. */
EXPORT void mlx5sim_infiniband(bool infiniband)
{
	is_infiniband = infiniband;
}

bool port_is_infiniband(void)
{
	return is_infiniband;
}

int query_port(struct ib_uverbs_ioctl_hdr *h, uint8_t port)
{
	struct ib_uverbs_query_port_resp_ex r = {
		.legacy_resp = {
			.port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS,
			.max_msg_sz = 1 << LOG_MAX_MESSAGE,
			.gid_tbl_len = GID_TABLE_LENGTH,
			.pkey_tbl_len = 1,
			.state = port_down() ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
			.max_mtu = IBV_MTU_4096,
			.active_mtu = IBV_MTU_1024,
			.max_vl_num = 1,
			.active_width = 2,
			.active_speed = 64, /* 4 x 50 Gb/s */
			.phys_state = port_down() ? 2 : 5, /* it polls, or the link is up */
			.link_layer = IBV_LINK_LAYER_ETHERNET,
		},
	};
	if (port != 1)
		return EINVAL;
	if (is_infiniband) {
		r.legacy_resp.link_layer = IBV_LINK_LAYER_INFINIBAND;
		r.legacy_resp.lid = r.legacy_resp.sm_lid = LID;
	}
	attr_out(h, UVERBS_ATTR_QUERY_PORT_RESP, &r, sizeof(r));
	return 0;
}

static struct ib_uverbs_gid_entry gid_entry(uint32_t index)
{
	struct ib_uverbs_gid_entry e = {
		.gid_index = index,
		.port_num = 1,
		.gid_type = is_infiniband ? IBV_GID_TYPE_IB : index & 1 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1,
		.netdev_ifindex = if_nametoindex("lo"),
	};
	memcpy(e.gid, sim_gids[index], 16);
	return e;
}

int query_gid_table(struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_attr *a = attr(h, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint64_t size = attr_in_number(h, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
	if (!size || a->len / size < (uint64_t)sim_num_gids)
		return EINVAL;
	for (int i = 0; i < sim_num_gids; i++) {
		struct ib_uverbs_gid_entry e = gid_entry(i);
		memcpy((char *)(uintptr_t)a->data + i * size, &e, size < sizeof(e) ? size : sizeof(e));
	}
	a->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	attr_out_u64(h, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, sim_num_gids);
	return 0;
}

int query_gid_entry(struct ib_uverbs_ioctl_hdr *h)
{
	uint32_t index = attr_in_number(h, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
	struct ib_uverbs_gid_entry e;
	if (attr_in_number(h, UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != 1 || index >= GID_TABLE_LENGTH)
		return EINVAL;
	if (index >= (uint32_t)sim_num_gids)
		return ENODATA;
	e = gid_entry(index);
	attr_out(h, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
	return 0;
}

/* The only addresses that can be reached. */
bool is_own_gid(const uint8_t *gid)
{
	for (int i = 0; i < sim_num_gids; i++)
		if (!memcmp(sim_gids[i], gid, 16))
			return true;
	return false;
}
