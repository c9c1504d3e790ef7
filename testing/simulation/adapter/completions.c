/*
 * Writes completions, and raises the events that were asked for. The arm record of a completion queue is only read by the
 * device, which therefore puts a value of its own in it to see the next request for an event, even one that equals the
 * last.
 */
#include "adapter.h"

void check_armed(struct cq *cq)
{
	uint32_t word = atomic_load_explicit(&cq->db[1], memory_order_acquire), armed, ci;
	int sn;
	if (word == ARM_IDLE)
		return;
	armed = be32toh(word);
	sn = armed >> 28 & 3;
	ci = armed & 0xffffff;
	if (sn != cq->fired_sn) {
		uint32_t until = armed & MLX5_CQ_DB_REQ_NOT_SOL ? cq->solicited_pi : cq->pi;
		if ((int32_t)((until - ci) << 8) <= 0)
			return; /* waits for a completion */
	}
	if (!atomic_compare_exchange_strong(&cq->db[1], &word, ARM_IDLE))
		return; /* armed anew: in the next round */
	if (sn == cq->fired_sn)
		return; /* that event is on its way already */
	cq->fired_sn = sn;
	if (cq->channel)
		event_push(cq->channel, cq, &cq->comp_reported, cq->user, 0);
}

void put_cqe(struct cq *cq, struct mlx5_cqe64 *cqe, int opcode, int flags, bool solicited)
{
	uint32_t ci = be32toh(atomic_load_explicit(&cq->db[0], memory_order_acquire)) & 0xffffff;
	char *slot = cq->buf + (uint64_t)(cq->pi & cq->cqe) * cq->cqe_size;
	struct mlx5_cqe64 *to = (void *)(slot + cq->cqe_size - 64);
	if (((cq->pi - ci) & 0xffffff) > cq->cqe && !cq->ignore_overrun) {
		if (!cq->overrun)
			event_push(cq->o.async, cq, &cq->async_reported, cq->user, IBV_EVENT_CQ_ERR);
		cq->overrun = true;
		return;
	}
	if (opcode != MLX5_CQE_REQ_ERR && opcode != MLX5_CQE_RESP_ERR) /* which have the syndrome there */
		cqe->timestamp = htobe64(clock_cycles());
	memcpy(to, cqe, sizeof(*to) - 1);
	__atomic_store_n(&to->op_own, opcode << 4 | flags | (solicited ? 2 : 0) | !!(cq->pi & (cq->cqe + 1)),
		__ATOMIC_RELEASE);
	cq->pi++;
	if (solicited)
		cq->solicited_pi = cq->pi;
	check_armed(cq);
}

void put_error(struct qp *qp, struct cq *cq, int opcode, uint16_t wqe_counter, uint8_t wqe_opcode, uint8_t syndrome)
{
	struct mlx5_err_cqe e = {
		.srqn = htobe32(qp->uidx),
		.vendor_err_synd = syndrome == MLX5_CQE_SYNDROME_WR_FLUSH_ERR ? 0xf9 : 0x88,
		.syndrome = syndrome,
		.s_wqe_opcode_qpn = htobe32((uint32_t)wqe_opcode << 24 | qp->qpn),
		.wqe_counter = htobe16(wqe_counter),
	};
	put_cqe(cq, (struct mlx5_cqe64 *)&e, opcode, 0, true);
}
