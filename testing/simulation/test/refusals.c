/* Calls that the simulated kernel and the functions of the provider refuse, as a test chooses. */
#include "common/check.h"
#include <infiniband/verbs.h>
#include <stdbool.h>

static void (*refuse)(long, int), (*refuse_some)(unsigned, unsigned, int), (*refuse_poll)(int);
static bool (*refuse_in)(struct ibv_context *);
static long (*refuse_none)(void);
static const char *(*refused)(void);

static void look_up(void)
{
	refuse = simulation("mlx5sim_refuse");
	refuse_some = simulation("mlx5sim_refuse_some");
	refuse_poll = simulation("mlx5sim_refuse_poll");
	refuse_in = simulation("mlx5sim_refuse_in");
	refuse_none = simulation("mlx5sim_refuse_none");
	refused = simulation("mlx5sim_refused");
}

static void commands(struct ibv_context *ctx)
{
	struct ibv_pd *first, *second;
	refuse(1, ENOMEM);
	first = ibv_alloc_pd(ctx);
	CHECK(first && !*refused());
	errno = 0;
	CHECK(!ibv_alloc_pd(ctx) && errno == ENOMEM && strstr(refused(), "write command 3 "));
	second = ibv_alloc_pd(ctx);
	CHECK(second);
	CHECK(refuse_none() == 3);
	refuse(0, EBUSY);
	CHECK(ibv_dealloc_pd(second) == EBUSY && strstr(refused(), "end of object"));
	refuse_none();
	CHECK(!ibv_dealloc_pd(second) && !ibv_dealloc_pd(first));
}

static void some(struct ibv_context *ctx)
{
	int rejected = 0;
	refuse_some(4, 7, ENOMEM);
	for (int i = 0; i < 400; i++) {
		struct ibv_pd *pd = ibv_alloc_pd(ctx);
		if (pd)
			CHECK(!ibv_dealloc_pd(pd)); /* the end of an object is never refused at random */
		else
			rejected++;
	}
	refuse_none();
	CHECK(rejected > 50 && rejected < 150);
}

static void provider(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
	struct ibv_wc wc;
	CHECK(qp && !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	refuse(0, ENOMEM);
	CHECK(ibv_post_recv(qp, &wr, &bad) == ENOMEM && bad == &wr);
	CHECK(!ibv_post_recv(qp, &wr, &bad));
	refuse(0, EIO);
	CHECK(ibv_req_notify_cq(cq, 0) == EIO);
	CHECK(refuse_none() == 1);
	refuse_poll(EIO);
	CHECK(ibv_poll_cq(cq, 1, &wc) < 0);
	CHECK(ibv_poll_cq(cq, 1, &wc) == 0);
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	look_up();
	CHECK(ctx && refuse_in(ctx));
	commands(ctx);
	some(ctx);
	provider(ctx);
	CHECK(!ibv_close_device(ctx));
	return result();
}
