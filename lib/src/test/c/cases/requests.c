/* Work requests: by ibv_post_send and by ibv_wr_*, receives, and operations on tags. */
#include "newer.h"
#include <arpa/inet.h>
#include <string.h>

#define REMOTE 0xf1f2f3f4f5f6f7f8
#define RKEY 0x81828384
#define IMM htonl(0x91929394)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char text[] = "twelve bytes";

static struct ibv_sge piece(uint32_t offset, uint32_t length)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)latest.mr->addr + offset,
		.length = length,
		.lkey = latest.mr->lkey,
	};
}

static void post(struct ibv_send_wr *requests, size_t count)
{
	struct ibv_send_wr *bad;
	for (size_t i = 0; i + 1 < count; i++)
		requests[i].next = &requests[i + 1];
	ibv_post_send(latest.qp, requests, &bad);
}

void post_from_any_memory(void)
{
	struct ibv_sge two[] = {piece(0x12340, 0x56), piece(0x78900, 1)};
	struct ibv_send_wr request = {.wr_id = 7, .sg_list = two, .num_sge = 2, .opcode = IBV_WR_SEND};
	post(&request, 1);
}

void post_to_a_connection(void)
{
	struct ibv_sge two[] = {piece(16, 32), piece(100, 0xfff)};
	struct ibv_sge one = piece(8, 8);
	struct ibv_sge inlined = {.addr = (uintptr_t)text, .length = 12};
	struct ibv_send_wr requests[] = {
		{
			.wr_id = 0xfedcba9876543210,
			.sg_list = two,
			.num_sge = 2,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
		},
		{.wr_id = 2, .sg_list = &one, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = IMM},
		{.wr_id = 3, .opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = RKEY},
		{
			.wr_id = 4,
			.sg_list = &one,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_FENCE,
			.wr.rdma = {.remote_addr = REMOTE, .rkey = RKEY},
		},
		{
			.wr_id = 5,
			.sg_list = two,
			.num_sge = 2,
			.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			.imm_data = IMM,
			.wr.rdma = {.remote_addr = REMOTE, .rkey = RKEY},
		},
		{
			.wr_id = 6,
			.sg_list = &one,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED,
			.wr.rdma = {.remote_addr = REMOTE, .rkey = RKEY},
		},
		{
			.wr_id = 7,
			.sg_list = &one,
			.num_sge = 1,
			.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
			.wr.atomic = {.remote_addr = REMOTE, .compare_add = 0x8182838485868788, .swap = 0x9192939495969798,
				      .rkey = RKEY},
		},
		{
			.wr_id = 8,
			.sg_list = &one,
			.num_sge = 1,
			.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.wr.atomic = {.remote_addr = REMOTE, .compare_add = 0xa1a2a3a4a5a6a7a8, .rkey = RKEY},
		},
		{.wr_id = 9, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = RKEY},
		{.wr_id = 10, .sg_list = &inlined, .num_sge = 1, .send_flags = IBV_SEND_INLINE, .opcode = IBV_WR_SEND},
	};
	post(requests, COUNT(requests));
}

/* Pieces of length 0 do not reach the provider, because some devices read a length of 0 as 2 GiB. */
void post_without_empty_pieces(void)
{
	struct ibv_sge one = piece(8, 8);
	struct ibv_send_wr requests[] = {
		{.wr_id = 1, .sg_list = &one, .num_sge = 1, .opcode = IBV_WR_SEND},
		{.wr_id = 2, .opcode = IBV_WR_SEND},
		{.wr_id = 3, .opcode = IBV_WR_SEND},
	};
	post(requests, COUNT(requests));
}

/* Inline bytes of the latest region. */
void post_inline_of_a_region(void)
{
	struct ibv_sge one = piece(4, 20);
	struct ibv_send_wr request = {
		.wr_id = 1,
		.sg_list = &one,
		.num_sge = 1,
		.send_flags = IBV_SEND_INLINE,
		.opcode = IBV_WR_SEND,
	};
	post(&request, 1);
}

/* The window had the key 0xa5a5ff: the last byte changes. */
static void describe(struct ibv_mw_bind_info *info)
{
	info->mr = latest.mr;
	info->addr = (uintptr_t)latest.mr->addr + 64;
	info->length = 640;
	info->mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
}

void post_a_bind(void)
{
	struct ibv_send_wr request = {
		.wr_id = 1,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = latest.mw, .rkey = ibv_inc_rkey(0xa5a5ff)},
	};
	describe(&request.bind_mw.bind_info);
	post(&request, 1);
}

void wr_a_bind(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	struct ibv_mw_bind_info info;
	describe(&info);
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qp, latest.mw, ibv_inc_rkey(0xa5a5ff), &info);
	ibv_wr_complete(qp);
}

void bind_a_window_of_type_1(void)
{
	struct ibv_mw_bind bind = {.wr_id = 0x8182838485868788, .send_flags = IBV_SEND_SIGNALED};
	describe(&bind.bind_info);
	ibv_bind_mw(latest.qp, latest.mw, &bind);
}

static void begin(struct ibv_qp_ex *qp, uint64_t wr_id, unsigned int flags)
{
	qp->wr_id = wr_id;
	qp->wr_flags = flags;
}

static void set_one(struct ibv_qp_ex *qp)
{
	struct ibv_sge one = piece(8, 8);
	ibv_wr_set_sge(qp, one.lkey, one.addr, one.length);
}

/* libmlx5 ends a request in this call, so that one without it is lost. */
static void set_none(struct ibv_qp_ex *qp)
{
	struct ibv_sge unread;
	ibv_wr_set_sge_list(qp, 0, &unread);
}

void wr_to_a_connection(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	struct ibv_sge two[] = {piece(16, 32), piece(100, 0xfff)};
	ibv_wr_start(qp);
	begin(qp, 0xfedcba9876543210, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 2, two);
	begin(qp, 2, 0);
	ibv_wr_send_imm(qp, IMM);
	set_one(qp);
	begin(qp, 3, 0);
	ibv_wr_send_inv(qp, RKEY);
	set_none(qp);
	begin(qp, 4, IBV_SEND_FENCE);
	ibv_wr_rdma_write(qp, RKEY, REMOTE);
	set_one(qp);
	begin(qp, 5, 0);
	ibv_wr_rdma_write_imm(qp, RKEY, REMOTE, IMM);
	ibv_wr_set_sge_list(qp, 2, two);
	begin(qp, 6, IBV_SEND_FENCE | IBV_SEND_SIGNALED);
	ibv_wr_rdma_read(qp, RKEY, REMOTE);
	set_one(qp);
	begin(qp, 7, 0);
	ibv_wr_atomic_cmp_swp(qp, RKEY, REMOTE, 0x8182838485868788, 0x9192939495969798);
	set_one(qp);
	begin(qp, 8, 0);
	ibv_wr_atomic_fetch_add(qp, RKEY, REMOTE, 0xa1a2a3a4a5a6a7a8);
	set_one(qp);
	begin(qp, 9, 0);
	ibv_wr_local_inv(qp, RKEY);
	/* The flag has no meaning here: ibv_wr_set_inline_data says it. */
	begin(qp, 10, IBV_SEND_INLINE);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, text, 12);
	ibv_wr_complete(qp);
}

void wr_atomic_write_of_8_bytes(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	uint64_t value = 0x8182838485868788;
	ibv_wr_start(qp);
	begin(qp, 1, IBV_SEND_FENCE);
	ibv_wr_atomic_write(qp, RKEY, REMOTE, &value);
	ibv_wr_complete(qp);
}

void wr_flushes(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	newer_wr_flush ibv_wr_flush = *newer_wr_flush_of(qp);
	ibv_wr_start(qp);
	begin(qp, 1, IBV_SEND_SIGNALED);
	ibv_wr_flush(qp, RKEY, REMOTE, 0xf1f2f3f4, NEWER_FLUSH_GLOBAL, NEWER_FLUSH_RANGE);
	begin(qp, 2, 0);
	ibv_wr_flush(qp, RKEY, REMOTE, 1, NEWER_FLUSH_GLOBAL | NEWER_FLUSH_PERSISTENT, NEWER_FLUSH_RANGE);
	begin(qp, 3, IBV_SEND_FENCE);
	ibv_wr_flush(qp, RKEY, 0, 0, NEWER_FLUSH_PERSISTENT, NEWER_FLUSH_MR);
	ibv_wr_complete(qp);
}

void post_datagrams(void)
{
	struct ibv_sge one = piece(8, 8);
	struct ibv_send_wr requests[] = {
		{
			.wr_id = 1,
			.sg_list = &one,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_IP_CSUM,
			.wr.ud = {.ah = latest.ah, .remote_qpn = 0xabcdef, .remote_qkey = 0x80010000},
		},
		{
			.wr_id = 2,
			.opcode = IBV_WR_SEND_WITH_IMM,
			.imm_data = IMM,
			.wr.ud = {.ah = latest.ah, .remote_qpn = 0xabcdee, .remote_qkey = 0x80010001},
		},
	};
	post(requests, COUNT(requests));
}

void wr_datagrams(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	ibv_wr_start(qp);
	begin(qp, 1, IBV_SEND_IP_CSUM);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, latest.ah, 0xabcdef, 0x80010000);
	set_one(qp);
	begin(qp, 2, 0);
	ibv_wr_send_imm(qp, IMM);
	ibv_wr_set_ud_addr(qp, latest.ah, 0xabcdee, 0x80010001);
	set_none(qp);
	ibv_wr_complete(qp);
}

void post_over_xrc(void)
{
	struct ibv_sge one = piece(8, 8);
	struct ibv_send_wr requests[] = {
		{.wr_id = 1, .sg_list = &one, .num_sge = 1, .opcode = IBV_WR_SEND, .qp_type.xrc.remote_srqn = 0xfedcba},
		{.wr_id = 2, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = RKEY},
	};
	post(requests, COUNT(requests));
}

void wr_over_xrc(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	ibv_wr_start(qp);
	begin(qp, 1, 0);
	ibv_wr_send(qp);
	ibv_wr_set_xrc_srqn(qp, 0xfedcba);
	set_one(qp);
	begin(qp, 2, 0);
	ibv_wr_local_inv(qp, RKEY);
	ibv_wr_complete(qp);
}

void post_segmented(void)
{
	struct ibv_sge one = piece(8, 8);
	struct ibv_send_wr request = {
		.wr_id = 1,
		.sg_list = &one,
		.num_sge = 1,
		.opcode = IBV_WR_TSO,
		.send_flags = IBV_SEND_IP_CSUM,
		.tso = {.hdr = text, .hdr_sz = 12, .mss = 0xfedc},
	};
	post(&request, 1);
}

void wr_segmented(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	ibv_wr_start(qp);
	begin(qp, 1, IBV_SEND_IP_CSUM);
	ibv_wr_send_tso(qp, text, 12, 0xfedc);
	set_one(qp);
	ibv_wr_complete(qp);
}

static struct ibv_recv_wr *receives(void)
{
	static struct ibv_sge two[2];
	static struct ibv_recv_wr requests[3];
	two[0] = piece(16, 32);
	two[1] = piece(100, 0xfff);
	requests[0] = (struct ibv_recv_wr){
		.wr_id = 0xfedcba9876543210,
		.next = &requests[1],
		.sg_list = two,
		.num_sge = 2,
	};
	requests[1] = (struct ibv_recv_wr){.wr_id = 2, .next = &requests[2]};
	/* Its other piece, which has the length 0, is left out. */
	requests[2] = (struct ibv_recv_wr){.wr_id = 3, .sg_list = two, .num_sge = 1};
	return requests;
}

void post_receives(void)
{
	struct ibv_recv_wr *bad;
	ibv_post_recv(latest.qp, receives(), &bad);
}

void post_shared_receives(void)
{
	struct ibv_recv_wr *bad;
	ibv_post_srq_recv(latest.srq, receives(), &bad);
}

void post_work_queue_receives(void)
{
	struct ibv_recv_wr *bad;
	ibv_post_wq_recv(latest.wq, receives(), &bad);
}

void add_tags(void)
{
	struct ibv_sge two[] = {piece(16, 32), piece(100, 0xfff)};
	struct ibv_ops_wr *bad;
	struct ibv_ops_wr operations[] = {
		{
			.wr_id = 0xfedcba9876543210,
			.next = &operations[1],
			.opcode = IBV_WR_TAG_ADD,
			.flags = IBV_OPS_SIGNALED,
			.tm.add = {
				.recv_wr_id = 0xf1f2f3f4f5f6f7f8,
				.sg_list = two,
				.num_sge = 2,
				.tag = 0x8182838485868788,
				.mask = 0x9192939495969798,
			},
		},
		{.wr_id = 2, .opcode = IBV_WR_TAG_SYNC, .flags = IBV_OPS_TM_SYNC, .tm.unexpected_cnt = 0xa1a2a3a4},
	};
	ibv_post_srq_ops(latest.srq, operations, &bad);
}

/* Tags whose ids are from first to last. */
void add_tags_of(int first, int last)
{
	struct ibv_ops_wr *bad;
	struct ibv_ops_wr operations[4];
	memset(operations, 0, sizeof operations);
	for (int id = first; id <= last; id++) {
		struct ibv_ops_wr *each = &operations[id - first];
		each->wr_id = id;
		each->next = id < last ? each + 1 : NULL;
		each->opcode = IBV_WR_TAG_ADD;
		each->tm.add.recv_wr_id = id;
		each->tm.add.tag = id;
		each->tm.add.mask = -1;
	}
	ibv_post_srq_ops(latest.srq, operations, &bad);
}

/* The handle that the provider gave the first tag. */
void remove_tag(int handle)
{
	struct ibv_ops_wr *bad;
	struct ibv_ops_wr operation = {.wr_id = 3, .opcode = IBV_WR_TAG_DEL, .tm.handle = handle};
	ibv_post_srq_ops(latest.srq, &operation, &bad);
}
