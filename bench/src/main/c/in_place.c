/*
 * Posts to the send queue of an mlx5 queue pair in place, in C: what libmlx5 does, without its locks, and with hardly any
 * check. It shows how much of a post any program can save that writes the queue itself.
 */
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

enum { BLOCK = 64, UNIT = 16, MAX_BLOCKS = 1 << 12 };

static struct queue {
	uint8_t *blocks, *end;
	uint8_t *doorbell;
	volatile uint32_t *record;
	uint32_t number, mask, position, posted, half, register_size;
	/* For each block, the id of the request that begins there, and how many were posted before it. */
	uint64_t requests[MAX_BLOCKS][2];
} queue;

/* Orders stores to write-combining memory; queues are used in place on x86-64 only. */
static inline void fence(void)
{
#ifdef __x86_64__
	__builtin_ia32_sfence();
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static void ring(const uint64_t *last, uint32_t blocks)
{
	volatile uint64_t *to = (void *)(queue.doorbell + queue.half);
	queue.half ^= queue.register_size;
	*queue.record = htobe32(queue.position & 0xffff);
	fence();
	if (!blocks)
		to[0] = last[0];
	for (; blocks; blocks--) {
		for (int i = 0; i < BLOCK / 8; i++)
			*to++ = *last++;
		if ((uint8_t *)last == queue.end)
			last = (void *)queue.blocks;
	}
	fence();
}

/* The length of the data that follows the control segment, in units, or 0 if it would not fit before the end. */
static inline uint32_t write_data(uint64_t *data, const struct ibv_send_wr *wr)
{
	const struct ibv_sge *piece = wr->sg_list;
	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		data[0] = htobe64((uint64_t)piece->length << 32 | piece->lkey);
		data[1] = htobe64(piece->addr);
		return 1;
	}
	if ((uint8_t *)data + 4 + piece->length > queue.end)
		return 0;
	*(uint32_t *)data = htobe32(piece->length | MLX5_INLINE_SEG);
	memcpy((uint8_t *)data + 4, (void *)piece->addr, piece->length);
	return (4 + piece->length + UNIT - 1) / UNIT;
}

static int post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	uint32_t before = queue.posted, blocks = 0;
	uint64_t *at = NULL;
	(void)qp;
	for (; wr; wr = wr->next) {
		uint32_t index = queue.position & queue.mask, units;
		at = (void *)(queue.blocks + (uint64_t)index * BLOCK);
		units = wr->num_sge == 1 && wr->opcode == IBV_WR_SEND ? 1 + write_data(at + 2, wr) : 1;
		if (units == 1) {
			*bad = wr;
			return EINVAL;
		}
		at[0] = htobe64((uint64_t)((queue.position & 0xffff) << 8 | MLX5_OPCODE_SEND) << 32 |
				(queue.number << 8 | units));
		at[1] = htole64((uint64_t)(wr->send_flags & IBV_SEND_SIGNALED ? MLX5_WQE_CTRL_CQ_UPDATE : 0) << 24);
		queue.requests[index][0] = wr->wr_id;
		queue.requests[index][1] = queue.posted++;
		blocks = (units + 3) / 4;
		queue.position += blocks;
	}
	ring(at, queue.posted - before == 1 ? blocks : 0);
	return 0;
}

/* Makes ibv_post_send on the device of a queue pair post to this queue pair in place. Returns 0, or an errno value. */
int post_in_place(struct ibv_qp *qp)
{
	struct mlx5dv_qp memory = {};
	struct mlx5dv_obj object = {.qp = {.in = qp, .out = &memory}};
	int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_QP);
	if (error)
		return error;
	if (memory.sq.wqe_cnt > MAX_BLOCKS || memory.sq.stride != BLOCK)
		return EINVAL;
	queue = (struct queue){
		.blocks = memory.sq.buf,
		.end = (uint8_t *)memory.sq.buf + (size_t)memory.sq.wqe_cnt * BLOCK,
		.doorbell = memory.bf.reg,
		.record = memory.dbrec + MLX5_SND_DBR,
		.number = qp->qp_num,
		.mask = memory.sq.wqe_cnt - 1,
		.register_size = memory.bf.size,
	};
	qp->context->ops.post_send = post;
	return 0;
}
