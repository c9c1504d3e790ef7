/* Completion queues: their creation, changes and events, and what is read of completions. */
#include "standin.h"
#include <arpa/inet.h>

void create_queue(void)
{
	ibv_create_cq(latest.context, 1005, NULL, latest.channel, 7);
}

void create_extended_queue(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 1004,
		.channel = latest.channel,
		.comp_vector = 6,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |
			    IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG |
			    IBV_WC_EX_WITH_TM_INFO | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	ibv_create_cq_ex(latest.context, &attr);
}

void create_extended_queues_of_a_parent_domain(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 1004,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = latest.parent,
	};
	ibv_create_cq_ex(latest.context, &attr);
	attr.comp_mask |= IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	ibv_create_cq_ex(latest.context, &attr);
}

void create_single_threaded_queues(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 1004,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	ibv_create_cq_ex(latest.context, &attr);
	attr.comp_mask |= IBV_CQ_INIT_ATTR_MASK_PD;
	attr.parent_domain = latest.parent;
	attr.flags |= IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	ibv_create_cq_ex(latest.context, &attr);
}

void close_a_parent_domain_with_a_queue(void)
{
	ibv_destroy_cq(latest.cq);
	ibv_dealloc_pd(latest.parent);
}

void change_queue(void)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {.cq_count = 0xfedc, .cq_period = 0xba98},
	};
	ibv_resize_cq(latest.cq, 77);
	ibv_modify_cq(latest.cq, &attr);
	ibv_req_notify_cq(latest.cq, 0);
	ibv_req_notify_cq(latest.cq, 1);
}

/* No two fields have the same value. */
static struct completion full(void)
{
	return (struct completion){
		.wc = {
			.wr_id = 0xf1f2f3f4f5f6f7f8,
			.status = IBV_WC_SUCCESS,
			.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
			.byte_len = 0x81828384,
			.imm_data = htonl(0x91929394),
			.qp_num = 0xa1a2a3,
			.src_qp = 0xb1b2b3,
			.wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_IP_CSUM_OK | IBV_WC_TM_MATCH |
				    IBV_WC_TM_DATA_VALID | IBV_WC_TM_SYNC_REQ,
			.pkey_index = 0xc1c2,
			.slid = 0xd1d2,
			.sl = 13,
			.dlid_path_bits = 0x7b,
		},
		.timestamp = 0xe1e2e3e4e5e6e7e8,
		.wallclock = 0x1718191a1b1c1d1e,
		.vlan = 0xf1f2,
		.flow_tag = 0x81818181,
		.tag = {.tag = 0x9192939495969798, .priv = 0xa4a5a6a7},
	};
}

static struct completion invalidating(void)
{
	return (struct completion){
		.wc = {
			.wr_id = 2,
			.opcode = IBV_WC_RECV,
			.byte_len = 2,
			.invalidated_rkey = 0xfedcba98,
			.wc_flags = IBV_WC_WITH_INV,
		},
	};
}

static struct completion failed(void)
{
	return (struct completion){
		.wc = {
			.wr_id = 3,
			.status = IBV_WC_RNR_RETRY_EXC_ERR,
			.vendor_err = 0x81828384,
			.qp_num = 0xb1b2b3,
		},
	};
}

void complete_three(void)
{
	struct completion completions[] = {full(), invalidating(), failed()};
	for (int i = 0; i < 3; i++)
		complete(latest.cq, &completions[i]);
}

void complete_one(void)
{
	struct completion completion = invalidating();
	complete(latest.cq, &completion);
}

void complete_one_with(int status, int opcode)
{
	struct completion completion = {.wc = {.wr_id = 4, .status = status, .opcode = opcode}};
	complete(latest.cq, &completion);
}

void complete_one_before_the_next_notification(void)
{
	struct completion completion = invalidating();
	complete_before_notification(&completion);
}

static void flags(unsigned int wc_flags)
{
	number("with_imm", !!(wc_flags & IBV_WC_WITH_IMM));
	number("grh", !!(wc_flags & IBV_WC_GRH));
	number("with_inv", !!(wc_flags & IBV_WC_WITH_INV));
	number("csum_ok", !!(wc_flags & IBV_WC_IP_CSUM_OK));
	number("tm_match", !!(wc_flags & IBV_WC_TM_MATCH));
	number("tm_data_valid", !!(wc_flags & IBV_WC_TM_DATA_VALID));
	number("tm_sync_req", !!(wc_flags & IBV_WC_TM_SYNC_REQ));
}

/* What C reads by ibv_poll_cq. */
void read_completions(void)
{
	struct ibv_wc wcs[3];
	complete_three();
	int polled = ibv_poll_cq(latest.cq, 3, wcs);
	for (int i = 0; i < polled; i++) {
		struct ibv_wc *wc = &wcs[i];
		called("completion");
		number("wr_id", wc->wr_id);
		number("status", wc->status);
		number("opcode", wc->status ? 0 : wc->opcode);
		number("vendor_err", wc->vendor_err);
		number("byte_len", wc->byte_len);
		number("qp_num", wc->qp_num);
		number("src_qp", wc->src_qp);
		number("pkey_index", wc->pkey_index);
		number("slid", wc->slid);
		number("sl", wc->sl);
		number("dlid_path_bits", wc->dlid_path_bits);
		flags(wc->wc_flags);
		if (wc->wc_flags & IBV_WC_WITH_IMM)
			number("imm_data", ntohl(wc->imm_data));
		if (wc->wc_flags & IBV_WC_WITH_INV)
			number("invalidated_rkey", wc->invalidated_rkey);
	}
}

/* What C reads by ibv_start_poll. */
void read_extended_completions(void)
{
	struct ibv_cq_ex *cq = latest.cq_ex;
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc_tm_info tag;
	complete_three();
	while (!ibv_start_poll(cq, &attr)) {
		called("completion");
		number("wr_id", cq->wr_id);
		number("status", cq->status);
		number("qp_num", ibv_wc_read_qp_num(cq));
		if (cq->status) {
			number("vendor_err", ibv_wc_read_vendor_err(cq));
		} else {
			unsigned int wc_flags = ibv_wc_read_wc_flags(cq);
			number("opcode", ibv_wc_read_opcode(cq));
			number("byte_len", ibv_wc_read_byte_len(cq));
			number("src_qp", ibv_wc_read_src_qp(cq));
			number("slid", ibv_wc_read_slid(cq));
			number("sl", ibv_wc_read_sl(cq));
			number("dlid_path_bits", ibv_wc_read_dlid_path_bits(cq));
			number("completion_ts", ibv_wc_read_completion_ts(cq));
			number("completion_wallclock_ns", ibv_wc_read_completion_wallclock_ns(cq));
			number("cvlan", ibv_wc_read_cvlan(cq));
			number("flow_tag", ibv_wc_read_flow_tag(cq));
			ibv_wc_read_tm_info(cq, &tag);
			number("tag", tag.tag);
			number("priv", tag.priv);
			flags(wc_flags);
			if (wc_flags & IBV_WC_WITH_IMM)
				number("imm_data", ntohl(ibv_wc_read_imm_data(cq)));
			if (wc_flags & IBV_WC_WITH_INV)
				number("invalidated_rkey", ibv_wc_read_invalidated_rkey(cq));
		}
		ibv_end_poll(cq);
	}
}

void acknowledge_one(void)
{
	ibv_ack_cq_events(latest.cq, 1);
}

static struct ibv_grh *header(void)
{
	return latest.mr->addr;
}

/* Writes the header of a datagram to the latest region. */
void write_header(void)
{
	struct ibv_grh *grh = header();
	grh->version_tclass_flow = htonl(6u << 28 | 0xb8 << 20 | 0xabcde);
	grh->paylen = htons(0xfedc);
	grh->next_hdr = 0x1b;
	grh->hop_limit = 250;
	for (int i = 0; i < 16; i++) {
		grh->sgid.raw[i] = 0x80 + i;
		grh->dgid.raw[i] = 0xc0 + i;
	}
}

void read_header(void)
{
	struct ibv_grh *grh = header();
	uint32_t first = ntohl(grh->version_tclass_flow);
	CALLED();
	number("version", first >> 28);
	number("tclass", first >> 20 & 0xff);
	number("flow", first & 0xfffff);
	number("paylen", ntohs(grh->paylen));
	number("next_hdr", grh->next_hdr);
	number("hop_limit", grh->hop_limit);
	bytes("sgid", &grh->sgid, sizeof grh->sgid);
	bytes("dgid", &grh->dgid, sizeof grh->dgid);
}
