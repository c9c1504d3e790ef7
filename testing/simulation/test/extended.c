/* Queue pairs and completion queues with extended functions, and device memory. */
#include "common/pair.h"
#include <time.h>

static void extended(void)
{
	struct ibv_td_init_attr ti = {0};
	struct ibv_td *td = ibv_alloc_td(ctx, &ti);
	struct ibv_parent_domain_init_attr pi = {.pd = pd, .td = td};
	struct ibv_pd *parent = ibv_alloc_parent_domain(ctx, &pi);
	struct ibv_cq_init_attr_ex ci = {.cqe = 100, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &ci);
	struct ibv_qp_ex *x[2];
	struct ibv_qp *qp[2];
	CHECK(td && parent && cq);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC, .send_cq = ibv_cq_ex_to_cq(cq),
			.recv_cq = ibv_cq_ex_to_cq(cq), .pd = parent, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ,
			.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64}};
		qp[i] = ibv_create_qp_ex(ctx, &init);
		CHECK(qp[i]);
		x[i] = ibv_qp_to_qp_ex(qp[i]);
		to_init(qp[i]);
	}
	for (int i = 0; i < 2; i++)
		connect_to(qp[i], qp[1 - i]->qp_num, 7);
	for (int i = 0; i < 100; i++) {
		struct ibv_poll_cq_attr none = {0};
		post_recv(qp[1], 55, buf + HALF, 64);
		fill(buf, 64, i);
		ibv_wr_start(x[0]);
		x[0]->wr_id = 44;
		x[0]->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(x[0]);
		if (i & 1)
			ibv_wr_set_inline_data(x[0], buf, 64);
		else
			ibv_wr_set_sge(x[0], mr->lkey, (uintptr_t)buf, 64);
		CHECK(!ibv_wr_complete(x[0]));
		for (int k = 0; k < 2; k++) {
			while (ibv_start_poll(cq, &none) == ENOENT)
				;
			CHECK(cq->status == IBV_WC_SUCCESS && (cq->wr_id == 55 || cq->wr_id == 44));
			if (cq->wr_id == 55)
				CHECK(ibv_wc_read_byte_len(cq) == 64 && ibv_wc_read_completion_ts(cq));
			ibv_end_poll(cq);
		}
		CHECK(!memcmp(buf, buf + HALF, 64));
	}
	CHECK(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	CHECK(!ibv_dealloc_pd(parent) && !ibv_dealloc_td(td));
}

/* The time of day of a completion, between that before the post and that after the poll. */
static void times_of_day(void)
{
	struct ibv_cq_init_attr_ex ci = {.cqe = 10, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &ci);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 4, .max_send_sge = 1}};
	struct ibv_poll_cq_attr none = {0};
	struct timespec before, after;
	struct ibv_qp *qp;
	CHECK(cq);
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	qp = ibv_create_qp(pd, &init);
	to_init(qp);
	connect_to(qp, qp->qp_num, 7);
	for (int i = 0; i < 20; i++) {
		uint64_t ns;
		clock_gettime(CLOCK_REALTIME, &before);
		CHECK(!post(qp, 1, IBV_WR_RDMA_WRITE, buf, 8, IBV_SEND_SIGNALED, buf + HALF, mr->rkey, 0));
		while (ibv_start_poll(cq, &none) == ENOENT)
			;
		clock_gettime(CLOCK_REALTIME, &after);
		ns = ibv_wc_read_completion_wallclock_ns(cq);
		CHECK(ns + 1000 >= before.tv_sec * 1000000000ul + before.tv_nsec);
		CHECK(ns <= after.tv_sec * 1000000000ul + after.tv_nsec + 1000);
		ibv_end_poll(cq);
	}
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

static void device_memory(void)
{
	struct ibv_alloc_dm_attr da = {.length = 4096};
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &da);
	char copy[64];
	CHECK(dm);
	if (dm) {
		struct ibv_mr *dmr = ibv_reg_dm_mr(pd, dm, 0, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
			| IBV_ACCESS_ZERO_BASED);
		struct end e[2];
		CHECK(dmr);
		make(e, 0, 7, NULL, NULL);
		fill(buf, 64, 1);
		CHECK(!post(e[0].qp, 1, IBV_WR_RDMA_WRITE, buf, 64, IBV_SEND_SIGNALED, (char *)64, dmr->rkey, 0));
		CHECK(wait_one(e[0].cq).status == IBV_WC_SUCCESS);
		CHECK(!ibv_memcpy_from_dm(copy, dm, 64, 64) && !memcmp(copy, buf, 64));
		drop(e);
		CHECK(!ibv_dereg_mr(dmr) && !ibv_free_dm(dm));
	}
}

int main(void)
{
	open_device();
	RUN(extended());
	RUN(times_of_day());
	RUN(device_memory());
	close_device();
	return result();
}
