/* The events of completion queues, and their resizing. */
#include "common/pair.h"
#include <poll.h>
#include <time.h>

static void events(void)
{
	struct end e[2];
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;
	make(e, 0, 7, NULL, channel);
	for (int i = 0; i < 100; i++) {
		CHECK(!ibv_req_notify_cq(e[1].cq, i & 1));
		post_recv(e[1].qp, i, buf, 64);
		CHECK(!poll(&p, 1, 0));
		CHECK(!post(e[0].qp, i, IBV_WR_SEND, buf, 64, IBV_SEND_SIGNALED | (i & 1 ? IBV_SEND_SOLICITED : 0), NULL, 0, 0));
		CHECK(!ibv_get_cq_event(channel, &cq, &context) && cq == e[1].cq && context == &e[1]);
		ibv_ack_cq_events(cq, 1);
		wait_one(e[1].cq);
		wait_one(e[0].cq);
	}
	CHECK(!ibv_req_notify_cq(e[1].cq, 0)); /* an event that nobody reads */
	post_recv(e[1].qp, 0, buf, 64);
	CHECK(!post(e[0].qp, 0, IBV_WR_SEND, buf, 64, IBV_SEND_SIGNALED, NULL, 0, 0));
	wait_one(e[1].cq);
	drop(e);
	CHECK(!ibv_destroy_comp_channel(channel));
}

/* Completions that are in the queue stay in it. */
static void resizing(void)
{
	struct end e[2];
	struct timespec t = {.tv_nsec = 20000000};
	make(e, 0, 7, NULL, NULL);
	for (int i = 0; i < 10; i++)
		CHECK(!post(e[0].qp, i, IBV_WR_RDMA_WRITE, buf, 8, IBV_SEND_SIGNALED, buf + HALF, mr->rkey, 0));
	nanosleep(&t, NULL);
	CHECK(!ibv_resize_cq(e[0].cq, 1000) && e[0].cq->cqe == 1023);
	for (int i = 0; i < 10; i++)
		CHECK(wait_one(e[0].cq).wr_id == (uint64_t)i);
	for (int i = 0; i < 3000; i++) {
		CHECK(!post(e[0].qp, i, IBV_WR_RDMA_WRITE, buf, 8, IBV_SEND_SIGNALED, buf + HALF, mr->rkey, 0));
		CHECK(wait_one(e[0].cq).wr_id == (uint64_t)i);
	}
	drop(e);
}

int main(void)
{
	open_device();
	RUN(events());
	RUN(resizing());
	close_device();
	return result();
}
