/*
 * The loops of the benchmarks in C, through the inlines of verbs.h, on the queues of a Java program. Each returns the
 * nanoseconds that it took, or -1 where a call failed.
 */
#include <infiniband/verbs.h>
#include <time.h>

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* What was read must have been read. */
static volatile uint64_t sink;

/* The request is built at an address that escapes, since Java's lies in memory too. */
static void describe(struct ibv_send_wr *wr, struct ibv_sge *sge, struct ibv_send_wr *next, uint64_t id, uint64_t addr,
		     uint32_t length, uint32_t lkey, unsigned int flags)
{
	sge->addr = addr;
	sge->length = length;
	sge->lkey = lkey;
	wr->wr_id = id;
	wr->next = next;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = flags;
}

/* `chain` requests in one call, the last one signalled, and the polls until its completion is there. */
int64_t post_and_poll(struct ibv_qp *qp, struct ibv_cq *cq, uint64_t addr, uint32_t length, uint32_t lkey, int chain,
		      int64_t rounds)
{
	struct ibv_send_wr wrs[16];
	struct ibv_sge sges[16];
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	uint64_t sum = 0;
	int64_t begin = now();
	if (chain < 1 || chain > 16)
		return -1;
	for (int64_t round = 0; round < rounds; round++) {
		for (int i = 0; i < chain; i++) {
			int last = i == chain - 1;
			describe(&wrs[i], &sges[i], last ? NULL : &wrs[i + 1], round, addr, length, lkey,
				 last ? IBV_SEND_SIGNALED : 0);
		}
		if (ibv_post_send(qp, wrs, &bad))
			return -1;
		int polled;
		while ((polled = ibv_poll_cq(cq, 1, &wc)) == 0)
			;
		if (polled < 0 || wc.status != IBV_WC_SUCCESS || wc.opcode != IBV_WC_SEND)
			return -1;
		sum += wc.wr_id + wc.byte_len;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t empty_poll(struct ibv_cq *cq, int64_t rounds)
{
	struct ibv_wc wc;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++)
		if (ibv_poll_cq(cq, 1, &wc))
			return -1;
	return now() - begin;
}
