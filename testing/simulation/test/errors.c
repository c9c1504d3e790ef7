/* What makes a request fail, and what both sides see of it. */
#include "common/pair.h"

static void errors(void)
{
	struct end e[2];
	struct ibv_wc wc;
	struct ibv_async_event event;
	make(e, 0, 7, NULL, NULL);
	post_recv(e[1].qp, 5, buf, 10);
	CHECK(!post(e[0].qp, 1, IBV_WR_RDMA_WRITE, buf, 8, IBV_SEND_SIGNALED, buf + HALF, mr->rkey + 1, 0));
	CHECK(!post(e[0].qp, 2, IBV_WR_RDMA_WRITE, buf, 8, 0, buf + HALF, mr->rkey, 0));
	wc = wait_one(e[0].cq);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR && wc.wr_id == 1);
	wc = wait_one(e[0].cq);
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 2);
	wc = wait_one(e[1].cq);
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 5);
	CHECK(!ibv_get_async_event(ctx, &event) && event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == e[1].qp);
	ibv_ack_async_event(&event);
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr init;
	CHECK(!ibv_query_qp(e[0].qp, &a, IBV_QP_STATE, &init) && a.qp_state == IBV_QPS_ERR);
	drop(e);
	make(e, 0, 1, NULL, NULL);
	CHECK(!post(e[0].qp, 1, IBV_WR_SEND, buf, 8, IBV_SEND_SIGNALED, NULL, 0, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_RNR_RETRY_EXC_ERR);
	drop(e);
	make(e, 0, 7, NULL, NULL);
	post_recv(e[1].qp, 5, buf + HALF, 4);
	CHECK(!post(e[0].qp, 1, IBV_WR_SEND, buf, 8, IBV_SEND_SIGNALED, NULL, 0, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_REM_INV_REQ_ERR);
	CHECK(wait_one(e[1].cq).status == IBV_WC_LOC_LEN_ERR);
	drop(e);
	make(e, 0, 7, NULL, NULL);
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	CHECK(!ibv_modify_qp(e[1].qp, &err, IBV_QP_STATE));
	CHECK(!post(e[0].qp, 1, IBV_WR_SEND, buf, 8, IBV_SEND_SIGNALED, NULL, 0, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_RETRY_EXC_ERR);
	drop(e);
}

int main(void)
{
	open_device();
	RUN(errors());
	close_device();
	return result();
}
