/* Queue pairs: their creation, changes and queries. */
#include "standin.h"

static const union ibv_gid GID = {.raw = {0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}};

void create_reliable(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.recv_cq = latest.cq,
		.cap = {.max_send_wr = 101, .max_recv_wr = 102, .max_send_sge = 3, .max_recv_sge = 4, .max_inline_data = 105},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = latest.pd,
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void create_with_shared_receive_queue(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.recv_cq = latest.cq,
		.srq = latest.srq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = latest.pd,
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void create_with_two_completion_queues(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq_before,
		.recv_cq = latest.cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = latest.pd,
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void create_unreliable(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.recv_cq = latest.cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_UC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = latest.pd,
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void create_extended(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.recv_cq = latest.cq,
		.cap = {.max_send_wr = 7, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_MAX_TSO_HEADER |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = latest.pd,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_SCATTER_FCS |
				IBV_QP_CREATE_CVLAN_STRIPPING | IBV_QP_CREATE_PCI_WRITE_END_PADDING,
		.max_tso_header = 0xfedc,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO | IBV_QP_EX_WITH_ATOMIC_WRITE,
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void create_spread(void)
{
	uint8_t key[40];
	for (size_t i = 0; i < sizeof key; i++)
		key[i] = i + 1;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = latest.pd,
		.rwq_ind_tbl = latest.table,
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = sizeof key,
			.rx_hash_key = key,
			.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_INNER,
		},
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void create_xrc_send(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = latest.pd,
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void create_xrc_receive(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = latest.xrcd,
	};
	ibv_create_qp_ex(latest.context, &attr);
}

void open_xrc_receive(void)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = 0xfedcba,
		.xrcd = latest.xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	ibv_open_qp(latest.context, &attr);
}

void change_everything(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_SQD,
		.path_mtu = IBV_MTU_512,
		.path_mig_state = IBV_MIG_ARMED,
		.qkey = 0x81828384,
		.rq_psn = 0xa1b2c3,
		.sq_psn = 0xd4e5f6,
		.dest_qp_num = 0x918273,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.cap = {.max_send_wr = 11, .max_recv_wr = 12, .max_send_sge = 13, .max_recv_sge = 14, .max_inline_data = 15},
		.ah_attr = {
			.grh = {
				.dgid = GID,
				.flow_label = 0xfedcb,
				.sgid_index = 201,
				.hop_limit = 202,
				.traffic_class = 203,
			},
			.dlid = 0xfedc,
			.sl = 14,
			.src_path_bits = 0x7e,
			.static_rate = IBV_RATE_1200_GBPS,
			.is_global = 1,
			.port_num = 211,
		},
		.alt_ah_attr = {.dlid = 0xabcd, .sl = 9, .src_path_bits = 5, .static_rate = IBV_RATE_40_GBPS, .port_num = 212},
		.pkey_index = 0xf1f2,
		.alt_pkey_index = 0xf3f4,
		.en_sqd_async_notify = 1,
		.max_rd_atomic = 221,
		.max_dest_rd_atomic = 222,
		.min_rnr_timer = 23,
		.port_num = 224,
		.timeout = 25,
		.retry_cnt = 6,
		.rnr_retry = 5,
		.alt_port_num = 212,
		.alt_timeout = 29,
		.rate_limit = 0x71727374,
	};
	ibv_modify_qp(latest.qp, &attr,
		      IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ACCESS_FLAGS |
			      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_AV | IBV_QP_PATH_MTU |
			      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PATH_MIG_STATE | IBV_QP_CAP | IBV_QP_DEST_QPN |
			      IBV_QP_RATE_LIMIT);
}

/* The path that `connect` and its steps go along. */
static struct ibv_ah_attr path(int is_global)
{
	struct ibv_ah_attr attr = {.dlid = 0xc0de, .sl = 13, .is_global = is_global, .port_num = 2};
	if (is_global) {
		attr.grh.dgid = GID;
		attr.grh.flow_label = 0xabcde;
		attr.grh.sgid_index = 3;
		attr.grh.hop_limit = 250;
		attr.grh.traffic_class = 0xb8;
	}
	return attr;
}

static void connect_path(enum ibv_qp_type type, int is_global)
{
	int responds = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
	int requests = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = 0x8001,
		.port_num = 2,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	ibv_modify_qp(latest.qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = 0x112233,
		.rq_psn = 0x445566,
		.ah_attr = path(is_global),
	};
	int receive_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (responds) {
		receive.max_dest_rd_atomic = 15;
		receive.min_rnr_timer = 31;
		receive_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	}
	ibv_modify_qp(latest.qp, &receive, receive_mask);

	struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .sq_psn = 0x778899};
	int send_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (type != IBV_QPT_UC) {
		send.timeout = 17;
		send_mask |= IBV_QP_TIMEOUT;
	}
	if (requests) {
		send.retry_cnt = 5;
		send.rnr_retry = 4;
		send.max_rd_atomic = 14;
		send_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	}
	ibv_modify_qp(latest.qp, &send, send_mask);
}

void connect_reliable(void)
{
	connect_path(IBV_QPT_RC, 1);
}

void connect_reliable_by_lid(void)
{
	connect_path(IBV_QPT_RC, 0);
}

void connect_unreliable(void)
{
	connect_path(IBV_QPT_UC, 1);
}

void connect_xrc_send(void)
{
	connect_path(IBV_QPT_XRC_SEND, 1);
}

void connect_xrc_receive(void)
{
	connect_path(IBV_QPT_XRC_RECV, 1);
}

static void change_state(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	ibv_modify_qp(latest.qp, &attr, IBV_QP_STATE);
}

void start_datagrams(void)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .pkey_index = 9, .port_num = 2, .qkey = 0xfedcba98};
	ibv_modify_qp(latest.qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	change_state(IBV_QPS_RTR);
	struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .sq_psn = 0x123456};
	ibv_modify_qp(latest.qp, &send, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

void start_raw_packets(void)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 2};
	ibv_modify_qp(latest.qp, &init, IBV_QP_STATE | IBV_QP_PORT);
	change_state(IBV_QPS_RTR);
	change_state(IBV_QPS_RTS);
}

void drain_resume_fail_and_reset(void)
{
	struct ibv_qp_attr drain = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	ibv_modify_qp(latest.qp, &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	change_state(IBV_QPS_RTS);
	change_state(IBV_QPS_ERR);
	change_state(IBV_QPS_RESET);
}

void limit_rate(void)
{
	struct ibv_qp_rate_limit_attr attr = {.rate_limit = 0x7a7b7c7d, .max_burst_sz = 0x6a6b6c6d, .typical_pkt_sz = 0xfedc};
	ibv_modify_qp_rate_limit(latest.qp, &attr);
}

void set_ece(void)
{
	struct ibv_ece ece = {.vendor_id = 0x81828384, .options = 0x91929394, .comp_mask = 0xa1a2a3a4};
	ibv_set_ece(latest.qp, &ece);
}

void ask_for_data_in_order(void)
{
	ibv_query_qp_data_in_order(latest.qp, IBV_WR_RDMA_WRITE, 0);
}

void attach_and_detach(void)
{
	ibv_attach_mcast(latest.qp, &GID, 0xc001);
	ibv_detach_mcast(latest.qp, &GID, 0xc001);
}

void create_address_handle(void)
{
	struct ibv_ah_attr attr = path(1);
	attr.src_path_bits = 0x55;
	attr.static_rate = IBV_RATE_100_GBPS;
	ibv_create_ah(latest.pd, &attr);
}

void create_address_handle_by_lid(void)
{
	struct ibv_ah_attr attr = path(0);
	ibv_create_ah(latest.pd, &attr);
}

/* What the next completion and the memory behind the latest region say. */
void create_address_handle_of_completion(void)
{
	struct ibv_wc wc = {
		.wr_id = 1,
		.opcode = IBV_WC_RECV,
		.byte_len = 77,
		.src_qp = 0xabcdef,
		.wc_flags = IBV_WC_GRH,
		.pkey_index = 0xfefe,
		.slid = 0xc0de,
		.sl = 11,
		.dlid_path_bits = 0x77,
	};
	ibv_create_ah_from_wc(latest.pd, &wc, latest.mr->addr, 2);
}

void complete_a_datagram(void)
{
	struct completion completion = {
		.wc = {
			.wr_id = 1,
			.opcode = IBV_WC_RECV,
			.byte_len = 77,
			.src_qp = 0xabcdef,
			.wc_flags = IBV_WC_GRH,
			.pkey_index = 0xfefe,
			.slid = 0xc0de,
			.sl = 11,
			.dlid_path_bits = 0x77,
		},
	};
	complete(latest.cq, &completion);
}

static void read_address(const char *name, const struct ibv_ah_attr *attr)
{
	called(name);
	number("dlid", attr->dlid);
	number("sl", attr->sl);
	number("src_path_bits", attr->src_path_bits);
	number("static_rate", attr->static_rate);
	number("port_num", attr->port_num);
	bytes("dgid", &attr->grh.dgid, sizeof attr->grh.dgid);
	number("flow_label", attr->grh.flow_label);
	number("sgid_index", attr->grh.sgid_index);
	number("hop_limit", attr->grh.hop_limit);
	number("traffic_class", attr->grh.traffic_class);
}

void read_queue_pair(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	ibv_query_qp(latest.qp, &attr, -1, &init);
	CALLED();
	number("qp_state", attr.qp_state);
	number("path_mtu", attr.path_mtu);
	number("path_mig_state", attr.path_mig_state);
	number("qkey", attr.qkey);
	number("rq_psn", attr.rq_psn);
	number("sq_psn", attr.sq_psn);
	number("dest_qp_num", attr.dest_qp_num);
	number("qp_access_flags", attr.qp_access_flags);
	number("max_send_wr", attr.cap.max_send_wr);
	number("max_recv_wr", attr.cap.max_recv_wr);
	number("max_send_sge", attr.cap.max_send_sge);
	number("max_recv_sge", attr.cap.max_recv_sge);
	number("max_inline_data", attr.cap.max_inline_data);
	number("pkey_index", attr.pkey_index);
	number("sq_draining", attr.sq_draining);
	number("max_rd_atomic", attr.max_rd_atomic);
	number("max_dest_rd_atomic", attr.max_dest_rd_atomic);
	number("min_rnr_timer", attr.min_rnr_timer);
	number("port_num", attr.port_num);
	number("timeout", attr.timeout);
	number("retry_cnt", attr.retry_cnt);
	number("rnr_retry", attr.rnr_retry);
	number("rate_limit", attr.rate_limit);
	read_address("ah_attr", &attr.ah_attr);
	read_address("alt_ah_attr", &attr.alt_ah_attr);
}
