/* Memory windows of both types. */
#include "common/pair.h"

static void windows(void)
{
	struct end e[2];
	struct ibv_wc wc;
	make(e, 0, 7, NULL, NULL);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	CHECK(mw);
	struct ibv_mw_bind b = {.wr_id = 3, .send_flags = IBV_SEND_SIGNALED, .bind_info = {.mr = mr,
		.addr = (uintptr_t)buf + HALF, .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
	CHECK(!ibv_bind_mw(e[1].qp, mw, &b));
	wc = wait_one(e[1].cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_BIND_MW && wc.wr_id == 3);
	fill(buf, 64, 99);
	CHECK(!post(e[0].qp, 1, IBV_WR_RDMA_WRITE, buf, 64, IBV_SEND_SIGNALED, buf + HALF, mw->rkey, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_SUCCESS && !memcmp(buf, buf + HALF, 64));
	CHECK(!post(e[0].qp, 1, IBV_WR_RDMA_WRITE, buf, 65, IBV_SEND_SIGNALED, buf + HALF, mw->rkey, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_REM_ACCESS_ERR);
	CHECK(!ibv_dealloc_mw(mw));
	struct ibv_async_event event;
	CHECK(!ibv_get_async_event(ctx, &event));
	ibv_ack_async_event(&event);
	drop(e);
	/* type 2, invalidated by the peer */
	make(e, 0, 7, NULL, NULL);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {.wr_id = 4, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = {.mr = mr, .addr = (uintptr_t)buf + HALF,
		.length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}}}, *bad;
	CHECK(!ibv_post_send(e[1].qp, &wr, &bad));
	wc = wait_one(e[1].cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_BIND_MW);
	mw->rkey = wr.bind_mw.rkey;
	fill(buf, 64, 98);
	CHECK(!post(e[0].qp, 1, IBV_WR_RDMA_WRITE, buf, 64, IBV_SEND_SIGNALED, buf + HALF, mw->rkey, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_SUCCESS && !memcmp(buf, buf + HALF, 64));
	post_recv(e[1].qp, 6, buf + HALF, 64);
	struct ibv_send_wr inv = {.wr_id = 5, .opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey};
	CHECK(!ibv_post_send(e[0].qp, &inv, &bad));
	CHECK(wait_one(e[0].cq).status == IBV_WC_SUCCESS);
	wc = wait_one(e[1].cq);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == mw->rkey);
	CHECK(!post(e[0].qp, 1, IBV_WR_RDMA_WRITE, buf, 64, IBV_SEND_SIGNALED, buf + HALF, mw->rkey, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_REM_ACCESS_ERR);
	CHECK(!ibv_get_async_event(ctx, &event));
	ibv_ack_async_event(&event);
	CHECK(!ibv_dealloc_mw(mw));
	drop(e);
}

int main(void)
{
	open_device();
	RUN(windows());
	close_device();
	return result();
}
