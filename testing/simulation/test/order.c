/* The order in which requests, doorbell records and registers are written: by libmlx5, and by hand, with each fault. */
#include "common/pair.h"
#include <infiniband/mlx5dv.h>
#include <stdbool.h>

enum { REQUEST_LATE = 1, RECORD_LATE = 2, NOT_FENCED = 4, NOT_FLUSHED = 8, NOT_RUNG = 16 };

static bool (*watch)(uint32_t);
static int (*watched)(void), (*doorbells)(void);

static void posts_of_the_provider(void)
{
	struct end e[2];
	make(e, 0, 7, NULL, NULL);
	for (int i = 0; i < 200; i++) { /* the queue wraps */
		bool is_inline = i % 3 == 0;
		int faults;
		struct ibv_sge s = {(uintptr_t)buf, i % 90 + 1, mr->lkey};
		struct ibv_send_wr last = {.wr_id = 2, .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED | (is_inline ? IBV_SEND_INLINE : 0),
			.wr.rdma = {(uintptr_t)buf + HALF, mr->rkey}}, first = last, *bad;
		first.send_flags &= ~IBV_SEND_SIGNALED;
		first.next = &last;
		CHECK(watch(e[0].qp->qp_num));
		CHECK(!ibv_post_send(e[0].qp, i & 1 ? &first : &last, &bad));
		faults = watched();
		CHECK(!faults && doorbells() == 1);
		CHECK(wait_one(e[0].cq).status == IBV_WC_SUCCESS);
	}
	drop(e);
}

static void extended_posts_of_the_provider(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
		.cap = {.max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 64}};
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, &init);
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp);
	to_init(qp);
	connect_to(qp, qp->qp_num, 7);
	for (int i = 0; i < 50; i++) {
		int faults;
		CHECK(watch(qp->qp_num));
		ibv_wr_start(x);
		x->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(x, mr->rkey, (uintptr_t)buf + HALF);
		if (i & 1)
			ibv_wr_set_inline_data(x, buf, 64);
		else
			ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf, 64);
		CHECK(!ibv_wr_complete(x));
		faults = watched();
		CHECK(!faults && doorbells() == 1);
		CHECK(wait_one(cq).status == IBV_WC_SUCCESS);
	}
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

#define FENCE() __asm__ volatile("sfence" ::: "memory")
#define COMPILER() __asm__ volatile("" ::: "memory")

/* What libmlx5 does in a post, of a request that does nothing, with one fault or none. */
static void by_hand(struct mlx5dv_qp *dv, uint32_t qpn, uint16_t index, int fault)
{
	struct mlx5_wqe_ctrl_seg request = {.opmod_idx_opcode = htobe32(index << 8 | MLX5_OPCODE_NOP),
		.qpn_ds = htobe32(qpn << 8 | 1)};
	char *at = (char *)dv->sq.buf + (index & (dv->sq.wqe_cnt - 1)) * 64;
	if (fault != REQUEST_LATE)
		memcpy(at, &request, sizeof(request));
	COMPILER();
	if (fault != RECORD_LATE)
		dv->dbrec[1] = htobe32((uint16_t)(index + 1));
	if (fault != NOT_FENCED)
		FENCE();
	if (fault == REQUEST_LATE)
		memcpy(at, &request, sizeof(request));
	COMPILER();
	if (fault != NOT_RUNG)
		*(volatile uint64_t *)dv->bf.reg = *(uint64_t *)&request;
	COMPILER();
	if (fault != NOT_FLUSHED)
		FENCE();
	if (fault == RECORD_LATE)
		dv->dbrec[1] = htobe32((uint16_t)(index + 1));
	COMPILER();
}

/* To a queue pair that is not connected, so that the adapter does not take the requests. */
static void posts_with_a_fault(void)
{
	static const struct { int fault, seen; } cases[] = {
		{0, 0}, {REQUEST_LATE, REQUEST_LATE}, {RECORD_LATE, RECORD_LATE | NOT_RUNG}, {NOT_FENCED, NOT_FENCED},
		{NOT_FLUSHED, NOT_FLUSHED}, {NOT_RUNG, NOT_RUNG}, {0, 0},
	};
	struct ibv_cq *cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = {.max_send_wr = 16, .max_send_sge = 1}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ibv_qp *qp = ibv_create_qp(pd, &init);
		struct mlx5dv_qp dv = {0};
		struct mlx5dv_obj obj = {.qp = {qp, &dv}};
		int seen;
		CHECK(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
		CHECK(watch(qp->qp_num));
		by_hand(&dv, qp->qp_num, 0, cases[i].fault);
		seen = watched();
		if (seen != cases[i].seen)
			printf("fault %d is seen as %d\n", cases[i].fault, seen);
		CHECK(seen == cases[i].seen && doorbells() == (cases[i].fault != NOT_RUNG));
		CHECK(!ibv_destroy_qp(qp));
	}
	CHECK(!ibv_destroy_cq(cq));
}

int main(void)
{
	watch = simulation("mlx5sim_watch");
	watched = simulation("mlx5sim_watched");
	doorbells = simulation("mlx5sim_doorbells");
	if (!watch || !watched || !doorbells)
		return result();
	open_device();
	RUN(posts_of_the_provider());
	RUN(extended_posts_of_the_provider());
	RUN(posts_with_a_fault());
	close_device();
	return result();
}
