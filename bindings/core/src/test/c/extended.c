/*
 * Stand-ins for the functions that an ibv_qp_ex and an ibv_cq_ex point to, and functions that call them
 * through the inline functions of verbs.h. Each stand-in records a number that identifies it, then its arguments.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "stand_in.h"

extern uint64_t arguments[6];

#define RECORD(...)                                                                                \
	do {                                                                                       \
		uint64_t recorded[6] = {__COUNTER__ + 1, __VA_ARGS__};                             \
		memcpy(arguments, recorded, sizeof(arguments));                                    \
	} while (0)
#define P(argument) ((uintptr_t)(argument))

static void record_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint64_t c, uint64_t d)
{
	RECORD(P(qp), a, b, c, d);
}

static void record_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint64_t c)
{
	RECORD(P(qp), a, b, c);
}

static void record_wr_atomic_write(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, void *c)
{
	RECORD(P(qp), a, b, P(c));
}

static void record_wr_flush(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint64_t c, uint8_t d, uint8_t e)
{
	RECORD(P(qp), a, b, c, (uint64_t)d << 8 | e);
}

static void record_wr_bind_mw(struct ibv_qp_ex *qp, void *a, uint32_t b, void *c)
{
	RECORD(P(qp), P(a), b, P(c));
}

static void record_wr_local_inv(struct ibv_qp_ex *qp, uint32_t a)
{
	RECORD(P(qp), a);
}

static void record_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t a, uint64_t b)
{
	RECORD(P(qp), a, b);
}

static void record_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t a, uint64_t b)
{
	RECORD(P(qp), a, b);
}

static void record_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint32_t c)
{
	RECORD(P(qp), a, b, c);
}

static void record_wr_send(struct ibv_qp_ex *qp)
{
	RECORD(P(qp));
}

static void record_wr_send_imm(struct ibv_qp_ex *qp, uint32_t a)
{
	RECORD(P(qp), a);
}

static void record_wr_send_inv(struct ibv_qp_ex *qp, uint32_t a)
{
	RECORD(P(qp), a);
}

static void record_wr_send_tso(struct ibv_qp_ex *qp, void *a, uint16_t b, uint16_t c)
{
	RECORD(P(qp), P(a), b, c);
}

static void record_wr_set_ud_addr(struct ibv_qp_ex *qp, void *a, uint32_t b, uint32_t c)
{
	RECORD(P(qp), P(a), b, c);
}

static void record_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t a)
{
	RECORD(P(qp), a);
}

static void record_wr_set_inline_data(struct ibv_qp_ex *qp, void *a, uint64_t b)
{
	RECORD(P(qp), P(a), b);
}

static void record_wr_set_inline_data_list(struct ibv_qp_ex *qp, uint64_t a, void *b)
{
	RECORD(P(qp), a, P(b));
}

static void record_wr_set_sge(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint32_t c)
{
	RECORD(P(qp), a, b, c);
}

static void record_wr_set_sge_list(struct ibv_qp_ex *qp, uint64_t a, void *b)
{
	RECORD(P(qp), a, P(b));
}

static void record_wr_start(struct ibv_qp_ex *qp)
{
	RECORD(P(qp));
}

static int record_wr_complete(struct ibv_qp_ex *qp)
{
	RECORD(P(qp));
	return -77;
}

static void record_wr_abort(struct ibv_qp_ex *qp)
{
	RECORD(P(qp));
}

void set_wr(struct ibv_qp_ex *qp)
{
	qp->wr_atomic_cmp_swp = (void *)record_wr_atomic_cmp_swp;
	qp->wr_atomic_fetch_add = (void *)record_wr_atomic_fetch_add;
	qp->wr_atomic_write = (void *)record_wr_atomic_write;
	((struct newer_qp_ex *)qp)->wr_flush = (void *)record_wr_flush;
	qp->wr_bind_mw = (void *)record_wr_bind_mw;
	qp->wr_local_inv = (void *)record_wr_local_inv;
	qp->wr_rdma_read = (void *)record_wr_rdma_read;
	qp->wr_rdma_write = (void *)record_wr_rdma_write;
	qp->wr_rdma_write_imm = (void *)record_wr_rdma_write_imm;
	qp->wr_send = (void *)record_wr_send;
	qp->wr_send_imm = (void *)record_wr_send_imm;
	qp->wr_send_inv = (void *)record_wr_send_inv;
	qp->wr_send_tso = (void *)record_wr_send_tso;
	qp->wr_set_ud_addr = (void *)record_wr_set_ud_addr;
	qp->wr_set_xrc_srqn = (void *)record_wr_set_xrc_srqn;
	qp->wr_set_inline_data = (void *)record_wr_set_inline_data;
	qp->wr_set_inline_data_list = (void *)record_wr_set_inline_data_list;
	qp->wr_set_sge = (void *)record_wr_set_sge;
	qp->wr_set_sge_list = (void *)record_wr_set_sge_list;
	qp->wr_start = (void *)record_wr_start;
	qp->wr_complete = (void *)record_wr_complete;
	qp->wr_abort = (void *)record_wr_abort;
}

void call_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint64_t c, uint64_t d)
{
	ibv_wr_atomic_cmp_swp(qp, a, b, c, d);
}

void call_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint64_t c)
{
	ibv_wr_atomic_fetch_add(qp, a, b, c);
}

void call_wr_atomic_write(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, void *c)
{
	ibv_wr_atomic_write(qp, a, b, c);
}

void call_wr_flush(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint64_t c, uint8_t d, uint8_t e)
{
	ibv_wr_flush(qp, a, b, c, d, e);
}

void call_wr_bind_mw(struct ibv_qp_ex *qp, void *a, uint32_t b, void *c)
{
	ibv_wr_bind_mw(qp, a, b, c);
}

void call_wr_local_inv(struct ibv_qp_ex *qp, uint32_t a)
{
	ibv_wr_local_inv(qp, a);
}

void call_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t a, uint64_t b)
{
	ibv_wr_rdma_read(qp, a, b);
}

void call_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t a, uint64_t b)
{
	ibv_wr_rdma_write(qp, a, b);
}

void call_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint32_t c)
{
	ibv_wr_rdma_write_imm(qp, a, b, c);
}

void call_wr_send(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
}

void call_wr_send_imm(struct ibv_qp_ex *qp, uint32_t a)
{
	ibv_wr_send_imm(qp, a);
}

void call_wr_send_inv(struct ibv_qp_ex *qp, uint32_t a)
{
	ibv_wr_send_inv(qp, a);
}

void call_wr_send_tso(struct ibv_qp_ex *qp, void *a, uint16_t b, uint16_t c)
{
	ibv_wr_send_tso(qp, a, b, c);
}

void call_wr_set_ud_addr(struct ibv_qp_ex *qp, void *a, uint32_t b, uint32_t c)
{
	ibv_wr_set_ud_addr(qp, a, b, c);
}

void call_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t a)
{
	ibv_wr_set_xrc_srqn(qp, a);
}

void call_wr_set_inline_data(struct ibv_qp_ex *qp, void *a, uint64_t b)
{
	ibv_wr_set_inline_data(qp, a, b);
}

void call_wr_set_inline_data_list(struct ibv_qp_ex *qp, uint64_t a, void *b)
{
	ibv_wr_set_inline_data_list(qp, a, b);
}

void call_wr_set_sge(struct ibv_qp_ex *qp, uint32_t a, uint64_t b, uint32_t c)
{
	ibv_wr_set_sge(qp, a, b, c);
}

void call_wr_set_sge_list(struct ibv_qp_ex *qp, uint64_t a, void *b)
{
	ibv_wr_set_sge_list(qp, a, b);
}

void call_wr_start(struct ibv_qp_ex *qp)
{
	ibv_wr_start(qp);
}

int call_wr_complete(struct ibv_qp_ex *qp)
{
	return ibv_wr_complete(qp);
}

void call_wr_abort(struct ibv_qp_ex *qp)
{
	ibv_wr_abort(qp);
}

static int record_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	RECORD(P(cq), P(attr));
	return ENOENT;
}

static int record_next_poll(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return EINVAL;
}

static void record_end_poll(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
}

static void record_read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
	RECORD(P(cq), P(tm_info));
}

static enum ibv_wc_opcode record_read_opcode(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return -2;
}

static uint32_t record_read_vendor_err(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0x80000001;
}

static uint32_t record_read_byte_len(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0xfffffffe;
}

static uint32_t record_read_imm_data(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0xdeadbeef;
}

static uint32_t record_read_qp_num(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0x112233;
}

static uint32_t record_read_src_qp(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0x445566;
}

static unsigned int record_read_wc_flags(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0x8000000f;
}

static uint32_t record_read_slid(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0xf0f0;
}

static uint8_t record_read_sl(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0xf1;
}

static uint8_t record_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0xf2;
}

static uint64_t record_read_completion_ts(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0x8123456789abcdef;
}

static uint64_t record_read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0x8fedcba987654321;
}

static uint16_t record_read_cvlan(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0xfff3;
}

static uint32_t record_read_flow_tag(struct ibv_cq_ex *cq)
{
	RECORD(P(cq));
	return 0x80808080;
}

void set_wc(struct ibv_cq_ex *cq)
{
	cq->start_poll = record_start_poll;
	cq->next_poll = record_next_poll;
	cq->end_poll = record_end_poll;
	cq->read_tm_info = record_read_tm_info;
	cq->read_opcode = record_read_opcode;
	cq->read_vendor_err = record_read_vendor_err;
	cq->read_byte_len = record_read_byte_len;
	cq->read_imm_data = record_read_imm_data;
	cq->read_qp_num = record_read_qp_num;
	cq->read_src_qp = record_read_src_qp;
	cq->read_wc_flags = record_read_wc_flags;
	cq->read_slid = record_read_slid;
	cq->read_sl = record_read_sl;
	cq->read_dlid_path_bits = record_read_dlid_path_bits;
	cq->read_completion_ts = record_read_completion_ts;
	cq->read_completion_wallclock_ns = record_read_completion_wallclock_ns;
	cq->read_cvlan = record_read_cvlan;
	cq->read_flow_tag = record_read_flow_tag;
}

int call_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return ibv_start_poll(cq, attr);
}

int call_next_poll(struct ibv_cq_ex *cq)
{
	return ibv_next_poll(cq);
}

void call_end_poll(struct ibv_cq_ex *cq)
{
	ibv_end_poll(cq);
}

void call_wc_read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
	ibv_wc_read_tm_info(cq, tm_info);
}

/* Extends the result as its C type says, so that all 64 bits are defined. */
uint64_t call_wc_read_opcode(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_opcode(cq);
}

uint64_t call_wc_read_vendor_err(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_vendor_err(cq);
}

uint64_t call_wc_read_byte_len(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_byte_len(cq);
}

uint64_t call_wc_read_imm_data(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_imm_data(cq);
}

uint64_t call_wc_read_invalidated_rkey(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_invalidated_rkey(cq);
}

uint64_t call_wc_read_qp_num(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_qp_num(cq);
}

uint64_t call_wc_read_src_qp(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_src_qp(cq);
}

uint64_t call_wc_read_wc_flags(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_wc_flags(cq);
}

uint64_t call_wc_read_slid(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_slid(cq);
}

uint64_t call_wc_read_sl(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_sl(cq);
}

uint64_t call_wc_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_dlid_path_bits(cq);
}

uint64_t call_wc_read_completion_ts(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_completion_ts(cq);
}

uint64_t call_wc_read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_completion_wallclock_ns(cq);
}

uint64_t call_wc_read_cvlan(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_cvlan(cq);
}

uint64_t call_wc_read_flow_tag(struct ibv_cq_ex *cq)
{
	return ibv_wc_read_flow_tag(cq);
}

size_t size_of_qp_ex(void)
{
	return sizeof(struct newer_qp_ex);
}

size_t size_of_cq_ex(void)
{
	return sizeof(struct ibv_cq_ex);
}

/* Fields that callers read and write directly. */
uint64_t *qp_ex_wr_id(struct ibv_qp_ex *qp)
{
	return &qp->wr_id;
}

unsigned int *qp_ex_wr_flags(struct ibv_qp_ex *qp)
{
	return &qp->wr_flags;
}

uint64_t *cq_ex_wr_id(struct ibv_cq_ex *cq)
{
	return &cq->wr_id;
}

void *cq_ex_status(struct ibv_cq_ex *cq)
{
	return &cq->status;
}
