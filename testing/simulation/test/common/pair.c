#include "pair.h"
#include <time.h>

struct ibv_context *ctx;
struct ibv_pd *pd;
char *buf;
struct ibv_mr *mr;

void open_device(void)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);
	CHECK(n == 1);
	ctx = ibv_open_device(list[0]);
	CHECK(ctx);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(ctx);
	buf = aligned_alloc(4096, SIZE);
	mr = ibv_reg_mr(pd, buf, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ
		| IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
	CHECK(pd && mr);
}

void close_device(void)
{
	CHECK(ibv_dealloc_pd(pd) == EBUSY);
	CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	free(buf);
}

void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 17,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC};
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT
		| (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
}

void connect_to(struct ibv_qp *qp, uint32_t qpn, int rnr_retry)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn,
		.max_dest_rd_atomic = 16, .min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 3, .hop_limit = 64}}};
	ibv_query_gid(ctx, 1, 3, &a.ah_attr.grh.dgid);
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
		| IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 10;
	a.retry_cnt = 1;
	a.rnr_retry = rnr_retry;
	a.max_rd_atomic = 16;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
		| IBV_QP_MAX_QP_RD_ATOMIC));
}

void make(struct end e[2], int sig_all, int rnr_retry, struct ibv_srq *srq, struct ibv_comp_channel *channel)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .sq_sig_all = sig_all, .srq = srq,
			.cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 3, .max_recv_sge = 3, .max_inline_data = 100}};
		e[i].cq = ibv_create_cq(ctx, 200, &e[i], channel, 0);
		CHECK(e[i].cq && e[i].cq->cqe == 255);
		init.send_cq = init.recv_cq = e[i].cq;
		e[i].qp = ibv_create_qp(pd, &init);
		CHECK(e[i].qp);
		CHECK(init.cap.max_inline_data >= 100);
		to_init(e[i].qp);
	}
	for (int i = 0; i < 2; i++)
		connect_to(e[i].qp, e[1 - i].qp->qp_num, rnr_retry);
}

void drop(struct end e[2])
{
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_destroy_qp(e[i].qp));
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_destroy_cq(e[i].cq));
}

struct ibv_wc wait_one(struct ibv_cq *cq)
{
	struct ibv_wc wc = {.status = -1};
	time_t end = time(NULL) + 5;
	int n;
	while (!(n = ibv_poll_cq(cq, 1, &wc)) && time(NULL) < end)
		;
	CHECK(n == 1);
	return wc;
}

void post_recv(struct ibv_qp *qp, uint64_t id, char *at, uint32_t n)
{
	struct ibv_sge s = {(uintptr_t)at, n, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &s, .num_sge = 1}, *bad;
	CHECK(!ibv_post_recv(qp, &wr, &bad));
}

int post(struct ibv_qp *qp, uint64_t id, int opcode, char *at, uint32_t n, int flags, char *remote, uint32_t rkey,
	uint32_t imm)
{
	struct ibv_sge s = {(uintptr_t)at, n, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = id, .sg_list = &s, .num_sge = 1, .opcode = opcode, .send_flags = flags,
		.imm_data = htobe32(imm)}, *bad;
	wr.wr.rdma.remote_addr = (uintptr_t)remote;
	wr.wr.rdma.rkey = rkey;
	return ibv_post_send(qp, &wr, &bad);
}

void fill(char *at, int n, int seed)
{
	for (int i = 0; i < n; i++)
		at[i] = (char)(i * 7 + seed);
}
