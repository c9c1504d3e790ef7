/*
 * The loops of the benchmarks in C, with the inline functions of verbs.h, on the queues of a Java program. Each returns
 * the nanoseconds that it took, or -1 if a call failed.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <time.h>

enum { LONGEST_CHAIN = 64, BATCH = 16, SIGNAL_EACH = 64 };

/* A queue pair and what to post to it: the first element of an array of `count`. LoopInC writes it in Java. */
struct work {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint64_t addr;
	uint64_t bytes;
	uint32_t length;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t count;
};

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* The loops store a sum of what they read here, so that the compiler does not remove the reads. */
static volatile uint64_t sink;

/* The request's address escapes, so that it is built in memory and not in registers, as in Java. */
static inline void describe(struct ibv_send_wr *wr, struct ibv_sge *sge, const struct work *work, uint64_t id,
			    enum ibv_wr_opcode opcode, unsigned int flags)
{
	sge->addr = work->addr;
	sge->length = work->length;
	sge->lkey = work->lkey;
	wr->wr_id = id;
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = opcode;
	wr->send_flags = flags;
}

static inline int read_completion(const struct ibv_wc *wc, uint64_t *sum)
{
	if (wc->status != IBV_WC_SUCCESS || wc->opcode == IBV_WC_RECV)
		return -1;
	*sum += wc->wr_id + wc->byte_len;
	return 0;
}

/* Polls until there is a completion, and reads it. */
static inline int reap_one(struct ibv_cq *cq, uint64_t *sum)
{
	struct ibv_wc wc;
	int polled;
	while ((polled = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	return polled < 0 ? -1 : read_completion(&wc, sum);
}

/* Polls until there were `count` completions, and reads them. */
static inline int reap(struct ibv_cq *cq, int count, uint64_t *sum)
{
	struct ibv_wc wcs[BATCH];
	while (count > 0) {
		int polled = ibv_poll_cq(cq, BATCH, wcs);
		if (polled < 0)
			return -1;
		for (int i = 0; i < polled; i++)
			if (read_completion(&wcs[i], sum))
				return -1;
		count -= polled;
	}
	return 0;
}

/* Posts `chain` signaled sends in one call, and polls until all are complete. */
static inline __attribute__((always_inline)) int64_t chains(const struct work *work, int chain, int64_t rounds)
{
	struct ibv_send_wr wrs[LONGEST_CHAIN];
	struct ibv_sge sges[LONGEST_CHAIN];
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		for (int i = 0; i < chain; i++) {
			describe(&wrs[i], &sges[i], work, round, IBV_WR_SEND, IBV_SEND_SIGNALED);
			if (i > 0)
				wrs[i - 1].next = &wrs[i];
		}
		if (ibv_post_send(work->qp, wrs, &bad) || (chain == 1 ? reap_one(work->cq, &sum) : reap(work->cq, chain, &sum)))
			return -1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t post_and_poll(const struct work *work, int64_t rounds)
{
	return chains(work, 1, rounds);
}

int64_t post_chain_8(const struct work *work, int64_t requests)
{
	return chains(work, 8, requests / 8);
}

int64_t post_chain_16(const struct work *work, int64_t requests)
{
	return chains(work, 16, requests / 16);
}

int64_t post_chain_64(const struct work *work, int64_t requests)
{
	return chains(work, 64, requests / 64);
}

/*
 * The same as chains, but with requests that are built once. Before each post, each gets another id and another part of
 * the work's memory.
 */
static inline __attribute__((always_inline)) int64_t prepared(const struct work *work, int chain, int64_t rounds)
{
	struct ibv_send_wr wrs[LONGEST_CHAIN];
	struct ibv_sge sges[LONGEST_CHAIN];
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	uint64_t parts = work->bytes / work->length;
	int64_t begin = now();
	for (int i = 0; i < chain; i++) {
		describe(&wrs[i], &sges[i], work, 0, IBV_WR_SEND, IBV_SEND_SIGNALED);
		if (i > 0)
			wrs[i - 1].next = &wrs[i];
	}
	for (int64_t round = 0; round < rounds; round++) {
		for (int i = 0; i < chain; i++) {
			wrs[i].wr_id = round;
			sges[i].addr = work->addr + ((round + i) & (parts - 1)) * work->length;
		}
		if (ibv_post_send(work->qp, wrs, &bad) || (chain == 1 ? reap_one(work->cq, &sum) : reap(work->cq, chain, &sum)))
			return -1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t prepared_1(const struct work *work, int64_t rounds)
{
	return prepared(work, 1, rounds);
}

int64_t prepared_16(const struct work *work, int64_t requests)
{
	return prepared(work, 16, requests / 16);
}

/* Sends the first `length` bytes of the work's memory inline. */
static inline __attribute__((always_inline)) int64_t inline_send(const struct work *work, uint32_t length,
								 int64_t rounds)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		describe(&wr, &sge, work, round, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
		sge.length = length;
		if (ibv_post_send(work->qp, &wr, &bad) || reap_one(work->cq, &sum))
			return -1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t inline_send_16(const struct work *work, int64_t rounds)
{
	return inline_send(work, 16, rounds);
}

int64_t inline_send_64(const struct work *work, int64_t rounds)
{
	return inline_send(work, 64, rounds);
}

static inline __attribute__((always_inline)) int64_t remote(const struct work *work, enum ibv_wr_opcode opcode,
							    int64_t rounds)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		describe(&wr, &sge, work, round, opcode, IBV_SEND_SIGNALED);
		wr.wr.rdma.remote_addr = work->addr;
		wr.wr.rdma.rkey = work->rkey;
		if (ibv_post_send(work->qp, &wr, &bad) || reap_one(work->cq, &sum))
			return -1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t rdma_read(const struct work *work, int64_t rounds)
{
	return remote(work, IBV_WR_RDMA_READ, rounds);
}

int64_t rdma_write(const struct work *work, int64_t rounds)
{
	return remote(work, IBV_WR_RDMA_WRITE, rounds);
}

/* Posts sends one by one and signals only each 64th. */
int64_t selective_signaling(const struct work *work, int64_t posts)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t post = 0; post < posts; post++) {
		int signaled = post % SIGNAL_EACH == SIGNAL_EACH - 1;
		describe(&wr, &sge, work, post, IBV_WR_SEND, signaled ? IBV_SEND_SIGNALED : 0);
		if (ibv_post_send(work->qp, &wr, &bad) || (signaled && reap_one(work->cq, &sum)))
			return -1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

/* The same with requests that are built once. Before each post, one gets another id. */
int64_t prepared_selective_signaling(const struct work *work, int64_t posts)
{
	struct ibv_send_wr unsignaled, signaled;
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	int64_t begin = now();
	describe(&unsignaled, &sge, work, 0, IBV_WR_SEND, 0);
	describe(&signaled, &sge, work, 0, IBV_WR_SEND, IBV_SEND_SIGNALED);
	for (int64_t post = 0; post < posts; post += SIGNAL_EACH) {
		for (int i = 0; i < SIGNAL_EACH - 1; i++) {
			unsignaled.wr_id = post + i;
			if (ibv_post_send(work->qp, &unsignaled, &bad))
				return -1;
		}
		signaled.wr_id = post;
		if (ibv_post_send(work->qp, &signaled, &bad) || reap_one(work->cq, &sum))
			return -1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

/* The same as post_and_poll, but posts with ibv_wr_*, polls with ibv_start_poll and ibv_end_poll, or both. */
static inline __attribute__((always_inline)) int64_t extended(const struct work *work, int posts, int polls,
							      int64_t rounds)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(work->qp);
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)work->cq;
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		if (posts) {
			ibv_wr_start(qp);
			qp->wr_id = round;
			qp->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_send(qp);
			ibv_wr_set_sge(qp, work->lkey, work->addr, work->length);
			if (ibv_wr_complete(qp))
				return -1;
		} else {
			describe(&wr, &sge, work, round, IBV_WR_SEND, IBV_SEND_SIGNALED);
			if (ibv_post_send(work->qp, &wr, &bad))
				return -1;
		}
		if (polls) {
			int error;
			while ((error = ibv_start_poll(cq, &attr)) == ENOENT)
				;
			if (error || cq->status != IBV_WC_SUCCESS || ibv_wc_read_opcode(cq) != IBV_WC_SEND)
				return -1;
			sum += cq->wr_id + ibv_wc_read_byte_len(cq);
			ibv_end_poll(cq);
		} else if (reap_one(work->cq, &sum)) {
			return -1;
		}
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t extended_post(const struct work *work, int64_t rounds)
{
	return extended(work, 1, 0, rounds);
}

int64_t extended_poll(const struct work *work, int64_t rounds)
{
	return extended(work, 0, 1, rounds);
}

int64_t extended_post_and_poll(const struct work *work, int64_t rounds)
{
	return extended(work, 1, 1, rounds);
}

int64_t empty_poll(const struct work *work, int64_t rounds)
{
	struct ibv_wc wc;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++)
		if (ibv_poll_cq(work->cq, 1, &wc))
			return -1;
	return now() - begin;
}

/* The same as post_and_poll, but with each work in turn, and with one piece of its memory after another. */
int64_t growth(const struct work *works, int64_t rounds)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	uint64_t offset = 0;
	uint32_t at = 0;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		const struct work *work = &works[at];
		describe(&wr, &sge, work, round, IBV_WR_SEND, IBV_SEND_SIGNALED);
		sge.addr += offset;
		if (ibv_post_send(work->qp, &wr, &bad) || reap_one(work->cq, &sum))
			return -1;
		offset = offset + work->length == work->bytes ? 0 : offset + work->length;
		at = at + 1 == works->count ? 0 : at + 1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

/* Registers all memory of the work, and deregisters it. */
int64_t register_memory(const struct work *work, int64_t rounds)
{
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		struct ibv_mr *mr = ibv_reg_mr(work->qp->pd, (void *)work->addr, work->bytes, IBV_ACCESS_LOCAL_WRITE);
		if (!mr || ibv_dereg_mr(mr))
			return -1;
	}
	return now() - begin;
}

/* The same, but with new pages each time. */
int64_t allocate_and_register(const struct work *work, int64_t rounds)
{
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		void *pages = mmap(NULL, work->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			return -1;
		struct ibv_mr *mr = ibv_reg_mr(work->qp->pd, pages, work->bytes, IBV_ACCESS_LOCAL_WRITE);
		if (!mr || ibv_dereg_mr(mr) || munmap(pages, work->bytes))
			return -1;
	}
	return now() - begin;
}

/* The same as post_and_poll, but stores the time of each post and its poll in `nanos`. */
int64_t post_and_poll_times(const struct work *work, int64_t rounds, int64_t *nanos)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t round = 0; round < rounds; round++) {
		int64_t before = now();
		describe(&wr, &sge, work, round, IBV_WR_SEND, IBV_SEND_SIGNALED);
		if (ibv_post_send(work->qp, &wr, &bad) || reap_one(work->cq, &sum))
			return -1;
		nanos[round] = now() - before;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}
