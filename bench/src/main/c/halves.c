/*
 * The loops of posts, and of polls, in C, with the inline functions of verbs.h, on queues of a Java program. Each does a
 * number of operations and returns the nanoseconds that it took, or -1 if a call failed. Requests are
 * described in memory for each post.
 */
#include <infiniband/verbs.h>
#include <time.h>

enum { CHAINED = 16 };

/* What to post, and where to. HalvesInC writes it in Java. */
struct work {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/* The loops store a sum of what they read here, so that the compiler does not remove the reads. */
static volatile uint64_t sink;

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static inline void describe(struct ibv_send_wr *wr, struct ibv_sge *sge, const struct work *work, uint64_t id)
{
	sge->addr = work->addr;
	sge->length = work->length;
	sge->lkey = work->lkey;
	wr->wr_id = id;
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = IBV_SEND_SIGNALED;
}

static inline __attribute__((always_inline)) int64_t posts(const struct work *work, int64_t count, unsigned flags)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	int64_t begin = now();
	for (int64_t i = 0; i < count; i++) {
		describe(&wr, &sge, work, i);
		wr.send_flags |= flags;
		if (ibv_post_send(work->qp, &wr, &bad))
			return -1;
	}
	return now() - begin;
}

int64_t post(const struct work *work, int64_t count)
{
	return posts(work, count, 0);
}

int64_t post_inline(const struct work *work, int64_t count)
{
	return posts(work, count, IBV_SEND_INLINE);
}

int64_t post_chains(const struct work *work, int64_t count)
{
	struct ibv_send_wr wrs[CHAINED], *bad;
	struct ibv_sge sges[CHAINED];
	int64_t begin = now();
	for (int64_t i = 0; i < count; i += CHAINED) {
		for (int k = 0; k < CHAINED; k++) {
			describe(&wrs[k], &sges[k], work, i + k);
			if (k > 0)
				wrs[k - 1].next = &wrs[k];
		}
		if (ibv_post_send(work->qp, wrs, &bad))
			return -1;
	}
	return now() - begin;
}

static inline int read_completion(const struct ibv_wc *wc, uint64_t *sum)
{
	if (wc->status != IBV_WC_SUCCESS || wc->opcode == IBV_WC_RECV)
		return -1;
	*sum += wc->wr_id + wc->byte_len;
	return 0;
}

static inline __attribute__((always_inline)) int64_t polls(const struct work *work, int64_t count, int batch)
{
	struct ibv_wc wcs[CHAINED];
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t i = 0; i < count; i += batch) {
		if (ibv_poll_cq(work->cq, batch, wcs) != batch)
			return -1;
		for (int k = 0; k < batch; k++)
			if (read_completion(&wcs[k], &sum))
				return -1;
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t poll(const struct work *work, int64_t count)
{
	return polls(work, count, 1);
}

int64_t poll_batches(const struct work *work, int64_t count)
{
	return polls(work, count, CHAINED);
}

int64_t poll_empty(const struct work *work, int64_t count)
{
	struct ibv_wc wc;
	int polled = 0;
	int64_t begin = now();
	for (int64_t i = 0; i < count; i++)
		polled |= ibv_poll_cq(work->cq, 1, &wc);
	int64_t took = now() - begin;
	return polled ? -1 : took;
}

static inline void describe_extended(struct ibv_qp_ex *qp, const struct work *work, uint64_t id)
{
	qp->wr_id = id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, work->lkey, work->addr, work->length);
}

static inline __attribute__((always_inline)) int64_t extended_posts(const struct work *work, int64_t count, int chain)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(work->qp);
	int64_t begin = now();
	for (int64_t i = 0; i < count; i += chain) {
		ibv_wr_start(qp);
		for (int k = 0; k < chain; k++)
			describe_extended(qp, work, i + k);
		if (ibv_wr_complete(qp))
			return -1;
	}
	return now() - begin;
}

int64_t extended_post(const struct work *work, int64_t count)
{
	return extended_posts(work, count, 1);
}

int64_t extended_post_chains(const struct work *work, int64_t count)
{
	return extended_posts(work, count, CHAINED);
}

static inline __attribute__((always_inline)) int64_t extended_polls(const struct work *work, int64_t count, int batch)
{
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)work->cq;
	struct ibv_poll_cq_attr none = {0};
	uint64_t sum = 0;
	int64_t begin = now();
	for (int64_t i = 0; i < count; i += batch) {
		for (int k = 0; k < batch; k++) {
			if (k == 0 ? ibv_start_poll(cq, &none) : ibv_next_poll(cq))
				return -1;
			if (cq->status != IBV_WC_SUCCESS || ibv_wc_read_opcode(cq) == IBV_WC_RECV)
				return -1;
			sum += cq->wr_id + ibv_wc_read_byte_len(cq);
		}
		ibv_end_poll(cq);
	}
	int64_t took = now() - begin;
	sink = sum;
	return took;
}

int64_t extended_poll(const struct work *work, int64_t count)
{
	return extended_polls(work, count, 1);
}

int64_t extended_poll_batches(const struct work *work, int64_t count)
{
	return extended_polls(work, count, CHAINED);
}

int64_t extended_poll_empty(const struct work *work, int64_t count)
{
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)work->cq;
	struct ibv_poll_cq_attr none = {0};
	int found = 0;
	int64_t begin = now();
	for (int64_t i = 0; i < count; i++)
		found |= ibv_start_poll(cq, &none) == 0;
	int64_t took = now() - begin;
	return found ? -1 : took;
}
