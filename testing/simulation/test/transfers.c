/* Messages, writes, reads and atomics. */
#include "common/pair.h"

static int atomic(struct ibv_qp *qp, int opcode, char *at, char *remote, uint64_t add, uint64_t swap)
{
	struct ibv_sge s = {(uintptr_t)at, 8, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 9, .sg_list = &s, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {.remote_addr = (uintptr_t)remote, .rkey = mr->rkey, .compare_add = add, .swap = swap}}, *bad;
	return ibv_post_send(qp, &wr, &bad);
}

static void data(int sig_all)
{
	struct end e[2];
	struct ibv_wc wc;
	make(e, sig_all, 7, NULL, NULL);
	static const int sizes[] = {1, 8, 32, 33, 100, 4096, 300000};
	for (unsigned int k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		int n = sizes[k], inl = n <= 100 ? IBV_SEND_INLINE : 0;
		fill(buf, n, k);
		memset(buf + HALF, 0, n + 1);
		post_recv(e[1].qp, 100 + k, buf + HALF, n + 1);
		CHECK(!post(e[0].qp, k, IBV_WR_SEND_WITH_IMM, buf, n, IBV_SEND_SIGNALED | inl, NULL, 0, 0xabcd + k));
		wc = wait_one(e[1].cq);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.wr_id == 100 + k && wc.byte_len == (uint32_t)n);
		CHECK(wc.wc_flags & IBV_WC_WITH_IMM && be32toh(wc.imm_data) == 0xabcd + k && wc.qp_num == e[1].qp->qp_num);
		CHECK(wc.src_qp == e[0].qp->qp_num || n <= 32); /* the data is in its place in the completion */
		CHECK(!memcmp(buf, buf + HALF, n) && !buf[HALF + n]);
		wc = wait_one(e[0].cq);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND && wc.wr_id == k);
		/* write */
		fill(buf, n, k + 50);
		CHECK(!post(e[0].qp, k, IBV_WR_RDMA_WRITE, buf, n, IBV_SEND_SIGNALED | inl, buf + HALF, mr->rkey, 0));
		wc = wait_one(e[0].cq);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_WRITE && !memcmp(buf, buf + HALF, n));
		/* write with immediate data */
		fill(buf, n, k + 60);
		post_recv(e[1].qp, 200 + k, buf, 0);
		CHECK(!post(e[0].qp, k, IBV_WR_RDMA_WRITE_WITH_IMM, buf, n, IBV_SEND_SIGNALED, buf + HALF, mr->rkey, 77));
		wc = wait_one(e[1].cq);
		CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == (uint32_t)n && be32toh(wc.imm_data) == 77);
		CHECK(!memcmp(buf, buf + HALF, n));
		wait_one(e[0].cq);
		/* read */
		fill(buf + HALF, n, k + 70);
		CHECK(!post(e[0].qp, k, IBV_WR_RDMA_READ, buf, n, IBV_SEND_SIGNALED, buf + HALF, mr->rkey, 0));
		wc = wait_one(e[0].cq);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_READ && !memcmp(buf, buf + HALF, n));
	}
	uint64_t *target = (uint64_t *)(buf + HALF), *old = (uint64_t *)buf;
	*target = 40;
	CHECK(!atomic(e[0].qp, IBV_WR_ATOMIC_FETCH_AND_ADD, buf, buf + HALF, 2, 0));
	wc = wait_one(e[0].cq);
	CHECK(wc.opcode == IBV_WC_FETCH_ADD && wc.byte_len == 8 && *old == 40 && *target == 42);
	CHECK(!atomic(e[0].qp, IBV_WR_ATOMIC_CMP_AND_SWP, buf, buf + HALF, 42, 7));
	wc = wait_one(e[0].cq);
	CHECK(wc.opcode == IBV_WC_COMP_SWAP && *old == 42 && *target == 7);
	CHECK(!atomic(e[0].qp, IBV_WR_ATOMIC_CMP_AND_SWP, buf, buf + HALF, 42, 8));
	wait_one(e[0].cq);
	CHECK(*old == 7 && *target == 7);
	/* many, so that all queues wrap */
	for (int i = 0; i < 1000; i++) {
		fill(buf, 64, i);
		post_recv(e[1].qp, i, buf + HALF, 64);
		CHECK(!post(e[0].qp, i, IBV_WR_SEND, buf, 64, i % 16 == 15 ? IBV_SEND_SIGNALED : 0, NULL, 0, 0));
		wc = wait_one(e[1].cq);
		CHECK(wc.wr_id == (uint64_t)i && !memcmp(buf, buf + HALF, 64));
		if (i % 16 == 15 || sig_all)
			CHECK(wait_one(e[0].cq).wr_id == (uint64_t)i);
	}
	drop(e);
}

int main(void)
{
	open_device();
	RUN(data(0));
	RUN(data(1));
	close_device();
	return result();
}
