/* The functions of the provider: to which a context, a queue pair or a completion queue points. */
#include "newer.h"
#include <errno.h>
#include <string.h>

/* Requests. Pointers to memory of the caller are replaced by what is there. */

static void pieces(struct ibv_sge *list, int count)
{
	NUMBER(count);
	for (int i = 0; i < count; i++)
		bytes("piece", &list[i], sizeof list[i]);
}

static void inline_bytes(struct ibv_sge *list, int count)
{
	NUMBER(count);
	for (int i = 0; i < count; i++)
		bytes("inline", (void *)(uintptr_t)list[i].addr, list[i].length);
}

/* Clears the fields that no provider reads for this opcode: a program need not write them. */
static void forget_unread(struct ibv_send_wr *wr, enum ibv_qp_type type)
{
	int has_imm = wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
		      wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_LOCAL_INV;
	int is_remote = wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
			wr->opcode == IBV_WR_RDMA_READ;
	int is_atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	if (!has_imm)
		wr->imm_data = 0;
	if (is_remote)
		memset((char *)&wr->wr + sizeof wr->wr.rdma, 0, sizeof wr->wr - sizeof wr->wr.rdma);
	else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr->wr.atomic.swap = 0;
	else if (!is_atomic && type != IBV_QPT_UD)
		memset(&wr->wr, 0, sizeof wr->wr);
	if (type != IBV_QPT_XRC_SEND || wr->opcode == IBV_WR_LOCAL_INV)
		memset(&wr->qp_type, 0, sizeof wr->qp_type);
	if (wr->opcode != IBV_WR_BIND_MW && wr->opcode != IBV_WR_TSO)
		memset(&wr->bind_mw, 0, sizeof wr->bind_mw);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	int tells_which;
	wait_while_held();
	for (int index = 0; wr; wr = wr->next, index++) {
		int errnum = refuses(index, &tells_which);
		if (errnum) {
			if (tells_which)
				*bad_wr = wr;
			return errnum;
		}
		struct ibv_send_wr copy = *wr;
		int has_next = wr->next != NULL;
		CALLED();
		POINTER(qp);
		if (wr->opcode == IBV_WR_TSO) {
			bytes("header", wr->tso.hdr, wr->tso.hdr_sz);
			copy.tso.hdr = NULL;
		}
		copy.next = NULL;
		copy.sg_list = NULL;
		forget_unread(&copy, qp->qp_type);
		BYTES(copy);
		NUMBER(has_next);
		if (wr->send_flags & IBV_SEND_INLINE)
			inline_bytes(wr->sg_list, wr->num_sge);
		else
			pieces(wr->sg_list, wr->num_sge);
	}
	return 0;
}

static void receives(const char *function, const void *queue, struct ibv_recv_wr *wr)
{
	for (; wr; wr = wr->next) {
		struct ibv_recv_wr copy = *wr;
		int has_next = wr->next != NULL;
		called(function);
		POINTER(queue);
		copy.next = NULL;
		copy.sg_list = NULL;
		BYTES(copy);
		NUMBER(has_next);
		pieces(wr->sg_list, wr->num_sge);
	}
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)bad_wr;
	receives(__func__, qp, wr);
	return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)bad_wr;
	receives(__func__, srq, wr);
	return 0;
}

static int post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)bad_wr;
	receives(__func__, wq, wr);
	return 0;
}

/* Each tag gets the next handle. */
static int post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op)
{
	static uint32_t handle = 100;
	int tells_which;
	for (int index = 0; op; op = op->next, index++) {
		int errnum = refuses(index, &tells_which);
		if (errnum) {
			if (tells_which)
				*bad_op = op;
			return errnum;
		}
		struct ibv_ops_wr copy = *op;
		int has_next = op->next != NULL;
		CALLED();
		POINTER(srq);
		copy.next = NULL;
		copy.tm.add.sg_list = NULL;
		BYTES(copy);
		NUMBER(has_next);
		if (op->opcode == IBV_WR_TAG_ADD)
			pieces(op->tm.add.sg_list, op->tm.add.num_sge);
		if (op->opcode == IBV_WR_TAG_ADD)
			op->tm.handle = handle++;
	}
	return 0;
}

#define REQUEST()                                                                                                      \
	CALLED();                                                                                                      \
	POINTER(qp);                                                                                                   \
	NUMBER(qp->wr_id);                                                                                             \
	NUMBER(qp->wr_flags)

static void wr_start(struct ibv_qp_ex *qp)
{
	CALLED();
	POINTER(qp);
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	CALLED();
	POINTER(qp);
	return answered();
}

static void wr_send(struct ibv_qp_ex *qp)
{
	REQUEST();
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	REQUEST();
	BYTES(imm_data);
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	REQUEST();
	NUMBER(invalidate_rkey);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	REQUEST();
	NUMBER(invalidate_rkey);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	REQUEST();
	NUMBER(rkey);
	NUMBER(remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
	REQUEST();
	NUMBER(rkey);
	NUMBER(remote_addr);
	BYTES(imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	REQUEST();
	NUMBER(rkey);
	NUMBER(remote_addr);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
	REQUEST();
	NUMBER(rkey);
	NUMBER(remote_addr);
	NUMBER(compare);
	NUMBER(swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
	REQUEST();
	NUMBER(rkey);
	NUMBER(remote_addr);
	NUMBER(add);
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const void *atomic_wr)
{
	REQUEST();
	NUMBER(rkey);
	NUMBER(remote_addr);
	bytes("atomic_wr", atomic_wr, 8);
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len, uint8_t type, uint8_t level)
{
	REQUEST();
	NUMBER(rkey);
	NUMBER(remote_addr);
	NUMBER(len);
	NUMBER(type);
	NUMBER(level);
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *bind_info)
{
	REQUEST();
	POINTER(mw);
	NUMBER(rkey);
	BYTES(*bind_info);
}

static void wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	REQUEST();
	bytes("hdr", hdr, hdr_sz);
	NUMBER(mss);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	CALLED();
	POINTER(qp);
	POINTER(ah);
	NUMBER(remote_qpn);
	NUMBER(remote_qkey);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
	CALLED();
	POINTER(qp);
	NUMBER(remote_srqn);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	CALLED();
	POINTER(qp);
	bytes("inline", addr, length);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	CALLED();
	POINTER(qp);
	NUMBER(lkey);
	NUMBER(addr);
	NUMBER(length);
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sg_list)
{
	CALLED();
	POINTER(qp);
	pieces((struct ibv_sge *)sg_list, num_sge);
}

static void init_qp(struct ibv_qp_ex *qp)
{
	qp->wr_start = wr_start;
	qp->wr_complete = wr_complete;
	qp->wr_send = wr_send;
	qp->wr_send_imm = wr_send_imm;
	qp->wr_send_inv = wr_send_inv;
	qp->wr_local_inv = wr_local_inv;
	qp->wr_rdma_write = wr_rdma_write;
	qp->wr_rdma_write_imm = wr_rdma_write_imm;
	qp->wr_rdma_read = wr_rdma_read;
	qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
	qp->wr_atomic_write = wr_atomic_write;
	*newer_wr_flush_of(qp) = wr_flush;
	qp->wr_bind_mw = wr_bind_mw;
	qp->wr_send_tso = wr_send_tso;
	qp->wr_set_ud_addr = wr_set_ud_addr;
	qp->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qp->wr_set_inline_data = wr_set_inline_data;
	qp->wr_set_sge = wr_set_sge;
	qp->wr_set_sge_list = wr_set_sge_list;
}

/* Completions. */

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct completion completion;
	int polled = 0;
	while (polled < num_entries && next_completion(cq, &completion))
		wc[polled++] = completion.wc;
	return polled;
}

/* The completion that is being read. A read outside of a poll finds nothing. */
static struct completion current;

static int read_next(struct ibv_cq_ex *cq)
{
	if (!next_completion((struct ibv_cq *)cq, &current))
		return ENOENT;
	cq->wr_id = current.wc.wr_id;
	cq->status = current.wc.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	if (attr->comp_mask)
		return EINVAL;
	int errnum = read_next(cq);
	if (!errnum)
		CALLED();
	return errnum;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	return read_next(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
	(void)cq;
	CALLED();
	memset(&current, 0, sizeof current);
}

#define READS(type, field, value)                                                                                      \
	static type read_##field(struct ibv_cq_ex *cq)                                                                 \
	{                                                                                                              \
		(void)cq;                                                                                              \
		return current.value;                                                                                  \
	}

READS(enum ibv_wc_opcode, opcode, wc.opcode)
READS(uint32_t, vendor_err, wc.vendor_err)
READS(uint32_t, byte_len, wc.byte_len)
READS(__be32, imm_data, wc.imm_data)
READS(uint32_t, qp_num, wc.qp_num)
READS(uint32_t, src_qp, wc.src_qp)
READS(unsigned int, wc_flags, wc.wc_flags)
READS(uint32_t, slid, wc.slid)
READS(uint8_t, sl, wc.sl)
READS(uint8_t, dlid_path_bits, wc.dlid_path_bits)
READS(uint64_t, completion_ts, timestamp)
READS(uint64_t, completion_wallclock_ns, wallclock)
READS(uint16_t, cvlan, vlan)
READS(uint32_t, flow_tag, flow_tag)

static void read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
	(void)cq;
	*tm_info = current.tag;
}

static void init_cq(struct ibv_cq_ex *cq)
{
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_byte_len = read_byte_len;
	cq->read_imm_data = read_imm_data;
	cq->read_qp_num = read_qp_num;
	cq->read_src_qp = read_src_qp;
	cq->read_wc_flags = read_wc_flags;
	cq->read_slid = read_slid;
	cq->read_sl = read_sl;
	cq->read_dlid_path_bits = read_dlid_path_bits;
	cq->read_completion_ts = read_completion_ts;
	cq->read_completion_wallclock_ns = read_completion_wallclock_ns;
	cq->read_cvlan = read_cvlan;
	cq->read_flow_tag = read_flow_tag;
	cq->read_tm_info = read_tm_info;
}

/* Queries of the device. Each attribute has another value, as far as it has no meaning here. */

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	if (input)
		return EINVAL;
	struct ibv_device_attr_ex known = {
		.orig_attr = {
			.fw_ver = "12.34.56",
			.node_guid = 0x0102030405060708,
			.sys_image_guid = 0x1112131415161718,
			.max_mr_size = 0xfedcba9876543210,
			.page_size_cap = 0xfffff000,
			.vendor_id = 0x2c9,
			.vendor_part_id = 0x1017,
			.hw_ver = 7,
			.max_qp = 1001,
			.max_qp_wr = 1002,
			.device_cap_flags = IBV_DEVICE_XRC | IBV_DEVICE_SRQ_RESIZE | 1u << 31,
			.max_sge = 1003,
			.max_sge_rd = 1004,
			.max_cq = 1005,
			.max_cqe = 1006,
			.max_mr = 1007,
			.max_pd = 1008,
			.max_qp_rd_atom = 16,
			.max_ee_rd_atom = 1009,
			.max_res_rd_atom = 1010,
			.max_qp_init_rd_atom = 17,
			.max_ee_init_rd_atom = 1011,
			.atomic_cap = IBV_ATOMIC_GLOB,
			.max_ee = 1012,
			.max_rdd = 1013,
			.max_mw = 1014,
			.max_raw_ipv6_qp = 1015,
			.max_raw_ethy_qp = 1016,
			.max_mcast_grp = 1017,
			.max_mcast_qp_attach = 1018,
			.max_total_mcast_qp_attach = 1019,
			.max_ah = 1020,
			.max_fmr = 1021,
			.max_map_per_fmr = 1022,
			.max_srq = 1023,
			.max_srq_wr = 1024,
			.max_srq_sge = 1025,
			.max_pkeys = 1026,
			.local_ca_ack_delay = 15,
			.phys_port_cnt = 2,
		},
		.odp_caps = {
			.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
			.per_transport_caps = {
				.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE,
				.uc_odp_caps = IBV_ODP_SUPPORT_RECV,
				.ud_odp_caps = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC,
			},
		},
		.completion_timestamp_mask = 0x7fffffffffffffff,
		.hca_core_clock = 78125,
		.device_cap_flags_ex = IBV_DEVICE_XRC | IBV_DEVICE_SRQ_RESIZE | 1ull << 31 | 1ull << 34 | 15ull << 38,
		.tso_caps = {.max_tso = 0x40000, .supported_qpts = 1 << IBV_QPT_RAW_PACKET | 1 << IBV_QPT_UD},
		.rss_caps = {
			.supported_qpts = 1 << IBV_QPT_RAW_PACKET,
			.max_rwq_indirection_tables = 2001,
			.max_rwq_indirection_table_size = 2002,
			.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_PORT_TCP,
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
		},
		.max_wq_type_rq = 2003,
		.packet_pacing_caps = {
			.qp_rate_limit_min = 2004,
			.qp_rate_limit_max = 2005,
			.supported_qpts = 1 << IBV_QPT_RAW_PACKET | 1 << IBV_QPT_RC,
		},
		.raw_packet_caps = IBV_RAW_PACKET_CAP_SCATTER_FCS | IBV_RAW_PACKET_CAP_DELAY_DROP,
		.tm_caps = {
			.max_rndv_hdr_size = 2006,
			.max_num_tags = 2007,
			.flags = IBV_TM_CAP_RC,
			.max_ops = 2008,
			.max_sge = 2009,
		},
		.cq_mod_caps = {.max_cq_count = 2010, .max_cq_period = 2011},
		.max_dm_size = 0x123456789abc,
		.pci_atomic_caps = {
			.fetch_add = IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP,
			.swap = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP,
			.compare_swap = IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP,
		},
		.xrc_odp_caps = IBV_ODP_SUPPORT_SRQ_RECV,
		.phys_port_cnt_ex = 300,
	};
	/* A program that was made for older headers has a shorter struct. */
	memcpy(attr, &known, attr_size < sizeof known ? attr_size : sizeof known);
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr,
		      size_t port_attr_len)
{
	struct ibv_port_attr attr = {
		.state = IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_2048,
		.gid_tbl_len = 100,
		.port_cap_flags = IBV_PORT_SM | IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = 0x81828384,
		.bad_pkey_cntr = 0x91929394,
		.qkey_viol_cntr = 0xa1a2a3a4,
		.pkey_tbl_len = 128,
		.lid = 0xb1b2,
		.sm_lid = 0xc1c2,
		.lmc = 3,
		.max_vl_num = 4,
		.sm_sl = 5,
		.subnet_timeout = 18,
		.init_type_reply = 7,
		.active_width = 2,
		.active_speed = 32,
		.phys_state = 5,
		.link_layer = port_num == 1 ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND,
		.flags = IBV_QPF_GRH_REQUIRED,
		.port_cap_flags2 = IBV_PORT_INFO_EXT_SUP | IBV_PORT_LINK_SPEED_NDR_SUP | 1 << 12,
	};
	(void)context;
	memcpy(port_attr, &attr, port_attr_len < sizeof attr ? port_attr_len : sizeof attr);
	/* XDR, whose number is too long for active_speed. */
	uint32_t speed = 256;
	if (port_num == 2 && port_attr_len >= NEWER_ACTIVE_SPEED_EX + sizeof speed)
		memcpy((char *)port_attr + NEWER_ACTIVE_SPEED_EX, &speed, sizeof speed);
	return 0;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	CALLED();
	POINTER(context);
	NUMBER(values->comp_mask);
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	values->raw_clock.tv_sec = 0x123456;
	values->raw_clock.tv_nsec = 987654321;
	return 0;
}

/* Objects. */

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init)
{
	CALLED();
	POINTER(context);
	BYTES(*init);
	create_cq(context, init->channel, init->cqe);
	return latest.cq_ex;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	CALLED();
	POINTER(cq);
	BYTES(*attr);
	return 0;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
	CALLED();
	POINTER(context);
	BYTES(*init);
	return create_srq(init->pd, &init->attr);
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	(void)srq;
	*srq_num = 0xabcdef;
	return 0;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp_init_attr_ex copy = *init;
	CALLED();
	POINTER(context);
	if (init->comp_mask & IBV_QP_INIT_ATTR_RX_HASH) {
		bytes("key", copy.rx_hash_conf.rx_hash_key, copy.rx_hash_conf.rx_hash_key_len);
		copy.rx_hash_conf.rx_hash_key = NULL;
	}
	BYTES(copy);
	return create_qp(context, init);
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = attr->qp_type};
	CALLED();
	POINTER(context);
	BYTES(*attr);
	return create_qp(context, &init);
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	CALLED();
	POINTER(qp);
	BYTES(*attr);
	return 0;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init)
{
	struct ibv_xrcd_init_attr copy = *init;
	int is_file = copy.fd >= 0;
	CALLED();
	POINTER(context);
	if (is_file)
		copy.fd = 0;
	BYTES(copy);
	NUMBER(is_file);
	latest.xrcd = create(sizeof *latest.xrcd);
	latest.xrcd->context = context;
	return latest.xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	CALLED();
	POINTER(xrcd);
	return 0;
}

static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *init)
{
	CALLED();
	POINTER(context);
	BYTES(*init);
	latest.td = create(sizeof *latest.td);
	latest.td->context = context;
	return latest.td;
}

static int dealloc_td(struct ibv_td *td)
{
	CALLED();
	POINTER(td);
	return 0;
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
	CALLED();
	POINTER(context);
	BYTES(*attr);
	latest.parent = create(sizeof *latest.parent);
	latest.parent->context = context;
	return latest.parent;
}

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *init)
{
	CALLED();
	POINTER(context);
	BYTES(*init);
	struct ibv_wq *wq = create(sizeof *wq);
	wq->context = context;
	wq->pd = init->pd;
	wq->cq = init->cq;
	wq->wq_num = 0x71727374;
	wq->post_recv = post_wq_recv;
	init->max_wr += 3;
	init->max_sge += 1;
	return latest.wq = wq;
}

static int modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	CALLED();
	POINTER(wq);
	BYTES(*attr);
	if (attr->attr_mask & IBV_WQ_ATTR_STATE)
		wq->state = attr->wq_state;
	return 0;
}

static int destroy_wq(struct ibv_wq *wq)
{
	CALLED();
	POINTER(wq);
	return 0;
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
						      struct ibv_rwq_ind_table_init_attr *init)
{
	struct ibv_rwq_ind_table_init_attr copy = *init;
	CALLED();
	POINTER(context);
	bytes("entries", init->ind_tbl, sizeof(*init->ind_tbl) << init->log_ind_tbl_size);
	copy.ind_tbl = NULL;
	BYTES(copy);
	latest.table = create(sizeof *latest.table);
	latest.table->context = context;
	return latest.table;
}

static int destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	CALLED();
	POINTER(table);
	return 0;
}

/* Memory. */

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	CALLED();
	POINTER(pd);
	NUMBER(type);
	latest.mw = create(sizeof *latest.mw);
	latest.mw->context = pd->context;
	latest.mw->pd = pd;
	latest.mw->type = type;
	latest.mw->rkey = 0xa5a5ff;
	return latest.mw;
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	CALLED();
	POINTER(qp);
	POINTER(mw);
	BYTES(*bind);
	mw->rkey++;
	return 0;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	CALLED();
	POINTER(mw);
	return 0;
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *sg_list,
		     uint32_t num_sges)
{
	CALLED();
	POINTER(pd);
	NUMBER(advice);
	NUMBER(flags);
	pieces(sg_list, num_sges);
	return 0;
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
	CALLED();
	POINTER(pd);
	return create_mr(pd, NULL, SIZE_MAX);
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length,
				unsigned int access)
{
	CALLED();
	POINTER(pd);
	POINTER(dm);
	NUMBER(dm_offset);
	NUMBER(length);
	NUMBER(access);
	return create_mr(pd, NULL, length);
}

enum { DEVICE_MEMORY = 4096 };
static char device_memory[DEVICE_MEMORY];

static int memcpy_to_dm(struct ibv_dm *dm, uint64_t dm_offset, const void *host_addr, size_t length)
{
	CALLED();
	POINTER(dm);
	NUMBER(dm_offset);
	bytes("from", host_addr, length);
	memcpy(device_memory + dm_offset % DEVICE_MEMORY, host_addr, length);
	return 0;
}

static int memcpy_from_dm(void *host_addr, struct ibv_dm *dm, uint64_t dm_offset, size_t length)
{
	CALLED();
	POINTER(dm);
	NUMBER(dm_offset);
	NUMBER(length);
	memcpy(host_addr, device_memory + dm_offset % DEVICE_MEMORY, length);
	return 0;
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	CALLED();
	POINTER(context);
	BYTES(*attr);
	latest.dm = create(sizeof *latest.dm);
	latest.dm->context = context;
	latest.dm->handle = 0xd1d2d3d4;
	latest.dm->memcpy_to_dm = memcpy_to_dm;
	latest.dm->memcpy_from_dm = memcpy_from_dm;
	return latest.dm;
}

static int free_dm(struct ibv_dm *dm)
{
	CALLED();
	POINTER(dm);
	return 0;
}

/* Flows and counters. */

/* Pointers in a rule are those of objects. */
static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	CALLED();
	POINTER(qp);
	bytes("rule", attr, attr->size);
	latest.flow = create(sizeof *latest.flow);
	latest.flow->context = qp->context;
	return latest.flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
	CALLED();
	POINTER(flow);
	return 0;
}

static void esp(struct ibv_flow_action_esp_attr *attr)
{
	struct ibv_flow_action_esp_attr copy = *attr;
	BYTES(*attr->esp_attr);
	if (attr->keymat_ptr)
		bytes("key", attr->keymat_ptr, attr->keymat_len);
	if (attr->replay_ptr)
		bytes("replay", attr->replay_ptr, attr->replay_len);
	copy.esp_attr = NULL;
	copy.keymat_ptr = NULL;
	copy.replay_ptr = NULL;
	BYTES(copy);
}

static struct ibv_flow_action *create_flow_action_esp(struct ibv_context *context,
						      struct ibv_flow_action_esp_attr *attr)
{
	CALLED();
	POINTER(context);
	esp(attr);
	latest.action = create(sizeof *latest.action);
	latest.action->context = context;
	return latest.action;
}

static int modify_flow_action_esp(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)
{
	CALLED();
	POINTER(action);
	esp(attr);
	return 0;
}

static int destroy_flow_action(struct ibv_flow_action *action)
{
	CALLED();
	POINTER(action);
	return 0;
}

static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *init)
{
	CALLED();
	POINTER(context);
	BYTES(*init);
	latest.counters = create(sizeof *latest.counters);
	latest.counters->context = context;
	return latest.counters;
}

static int destroy_counters(struct ibv_counters *counters)
{
	CALLED();
	POINTER(counters);
	return 0;
}

static int attach_counters_point_flow(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr,
				      struct ibv_flow *flow)
{
	CALLED();
	POINTER(counters);
	BYTES(*attr);
	POINTER(flow);
	return 0;
}

static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t ncounters, uint32_t flags)
{
	CALLED();
	POINTER(counters);
	NUMBER(ncounters);
	NUMBER(flags);
	for (uint32_t i = 0; i < ncounters; i++)
		values[i] = 0x8000000000000000 + i;
	return 0;
}

/* Their presence shows that the operation is supported; libibverbs calls them in another way. */
static void *present(void)
{
	return NULL;
}

static void init_context(struct verbs_context *verbs)
{
	struct ibv_context_ops *ops = &verbs->context.ops;
	ops->post_send = post_send;
	ops->post_recv = post_recv;
	ops->post_srq_recv = post_srq_recv;
	ops->poll_cq = poll_cq;
	ops->req_notify_cq = request_event;
	ops->alloc_mw = alloc_mw;
	ops->bind_mw = bind_mw;
	ops->dealloc_mw = dealloc_mw;
	ops->_compat_create_srq = (void *)present;
	ops->_compat_resize_cq = (void *)present;
	ops->_compat_rereg_mr = (void *)present;
	ops->_compat_attach_mcast = (void *)present;
	verbs->query_device_ex = query_device_ex;
	verbs->query_port = query_port;
	*newer_operation(verbs, NEWER_ALLOC_DMAH) = (void *)present;
	*newer_operation(verbs, NEWER_DM_EXPORT_DMABUF_FD) = (void *)present;
	verbs->query_rt_values = query_rt_values;
	verbs->create_cq_ex = create_cq_ex;
	verbs->modify_cq = modify_cq;
	verbs->create_srq_ex = create_srq_ex;
	verbs->get_srq_num = get_srq_num;
	verbs->post_srq_ops = post_srq_ops;
	verbs->create_qp_ex = create_qp_ex;
	verbs->open_qp = open_qp;
	verbs->modify_qp_rate_limit = modify_qp_rate_limit;
	verbs->open_xrcd = open_xrcd;
	verbs->close_xrcd = close_xrcd;
	verbs->alloc_td = alloc_td;
	verbs->dealloc_td = dealloc_td;
	verbs->alloc_parent_domain = alloc_parent_domain;
	verbs->create_wq = create_wq;
	verbs->modify_wq = modify_wq;
	verbs->destroy_wq = destroy_wq;
	verbs->create_rwq_ind_table = create_rwq_ind_table;
	verbs->destroy_rwq_ind_table = destroy_rwq_ind_table;
	verbs->advise_mr = advise_mr;
	verbs->alloc_null_mr = alloc_null_mr;
	verbs->reg_dm_mr = reg_dm_mr;
	verbs->alloc_dm = alloc_dm;
	verbs->free_dm = free_dm;
	verbs->ibv_create_flow = create_flow;
	verbs->ibv_destroy_flow = destroy_flow;
	verbs->create_flow_action_esp = create_flow_action_esp;
	verbs->modify_flow_action_esp = modify_flow_action_esp;
	verbs->destroy_flow_action = destroy_flow_action;
	verbs->create_counters = create_counters;
	verbs->destroy_counters = destroy_counters;
	verbs->attach_counters_point_flow = attach_counters_point_flow;
	verbs->read_counters = read_counters;
}

__attribute__((constructor)) static void load(void)
{
	provider_init_context = init_context;
	provider_init_qp = init_qp;
	provider_init_cq = init_cq;
}
