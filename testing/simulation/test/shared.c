/* Shared receive queues. */
#include "common/pair.h"

static void shared(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 50, .max_sge = 2}};
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	struct end e[2];
	struct ibv_async_event event;
	struct ibv_srq_attr limit = {.srq_limit = 3};
	CHECK(srq);
	make(e, 0, 7, srq, NULL);
	for (int i = 0; i < 200; i++) {
		struct ibv_sge s = {(uintptr_t)buf + HALF, 64, mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &s, .num_sge = 1}, *bad;
		CHECK(!ibv_post_srq_recv(srq, &wr, &bad));
		fill(buf, 64, i);
		CHECK(!post(e[i & 1].qp, i, IBV_WR_SEND, buf, i & 2 ? 64 : 20, IBV_SEND_SIGNALED, NULL, 0, 0));
		CHECK(wait_one(e[!(i & 1)].cq).wr_id == (uint64_t)i);
		CHECK(!memcmp(buf, buf + HALF, i & 2 ? 64 : 20));
		wait_one(e[i & 1].cq);
	}
	for (int i = 0; i < 3; i++) {
		struct ibv_sge s = {(uintptr_t)buf + HALF, 64, mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &s, .num_sge = 1}, *bad;
		CHECK(!ibv_post_srq_recv(srq, &wr, &bad));
	}
	CHECK(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
	CHECK(!post(e[0].qp, 1, IBV_WR_SEND, buf, 8, IBV_SEND_SIGNALED, NULL, 0, 0));
	CHECK(!ibv_get_async_event(ctx, &event) && event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
	ibv_ack_async_event(&event);
	drop(e);
	CHECK(!ibv_destroy_srq(srq));
}

int main(void)
{
	open_device();
	RUN(shared());
	close_device();
	return result();
}
