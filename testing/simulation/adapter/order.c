/*
 * Watches how a thread hands requests over to the adapter: after each of its instructions, what has changed in memory.
 * An adapter reads a request as soon as it sees the doorbell record or the register, so the request has to be written
 * before the record, and the record before the register. Registers are in write-combining memory, whose stores the
 * processor may move ahead of others and keep for as long as it likes, so a fence has to be on each side of them.
 */
#include "adapter.h"
#include <signal.h>
#include <ucontext.h>

enum { REQUEST_LATE = 1, RECORD_LATE = 2, NOT_FENCED = 4, NOT_FLUSHED = 8, NOT_RUNG = 16 };
enum { REGISTERS = 4, FIRST_REGISTER = 0x800, REGISTER_SIZE = 0x100 };

static struct {
	uint32_t qpn, count;
	const char *queue, *page;
	const _Atomic uint32_t *record;
	uint64_t registers[REGISTERS], digest;
	uint16_t from, posted; /* the requests that the record has announced last */
	bool fence_is_next, fenced, announced, rung;
	int faults, doorbells;
} w;

static const char *request(uint16_t index)
{
	return w.queue + (index & (w.count - 1)) * 64ul;
}

/* The number of requests' blocks, or 0 if there is no complete request. */
static uint16_t blocks_of(const char *at, uint16_t index)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = (const void *)at;
	uint32_t ds = be32toh(ctrl->qpn_ds);
	bool is_there = (be32toh(ctrl->opmod_idx_opcode) >> 8 & 0xffff) == index && ds >> 8 == w.qpn;
	return is_there ? ((ds & 0x3f) + 3) / 4 : 0;
}

static uint64_t digest(void)
{
	uint64_t sum = 0;
	for (uint16_t i = w.from; i != w.posted; i++)
		for (int k = 0; k < 8; k++)
			sum = (sum ^ ((const uint64_t *)request(i))[k]) * 0x100000001b3;
	return sum;
}

static void look_at_record(void)
{
	uint16_t posted = be32toh(*w.record), n;
	if (posted == w.posted)
		return;
	if (w.announced)
		w.faults |= NOT_RUNG;
	w.from = w.posted;
	w.posted = posted;
	w.announced = true;
	w.fenced = false;
	for (uint16_t i = w.from; i != posted; i += n)
		if (!(n = blocks_of(request(i), i)) || n > (uint16_t)(posted - i)) {
			w.faults |= REQUEST_LATE;
			break;
		}
	w.digest = digest();
}

static void look_at_registers(void)
{
	for (int r = 0; r < REGISTERS; r++) {
		const char *at = w.page + FIRST_REGISTER + r * REGISTER_SIZE;
		uint16_t index = be32toh(((const struct mlx5_wqe_ctrl_seg *)at)->opmod_idx_opcode) >> 8, blocks;
		if (*(const uint64_t *)at == w.registers[r])
			continue;
		w.registers[r] = *(const uint64_t *)at;
		blocks = blocks_of(at, index);
		if (!blocks)
			continue; /* of another queue pair, or not complete yet */
		if (!w.announced || (uint16_t)(index + blocks) != w.posted)
			w.faults |= RECORD_LATE;
		else if (!w.fenced)
			w.faults |= NOT_FENCED;
		if (w.digest != digest())
			w.faults |= REQUEST_LATE;
		w.announced = false;
		w.rung = true;
		w.doorbells++;
	}
}

/* Fences, and instructions that are one as well: those with a lock, and exchanges with memory. */
static bool is_fence(const uint8_t *at)
{
	while (*at == 0x66 || *at == 0xf2 || *at == 0xf3 || (*at & 0xf0) == 0x40)
		at++;
	return *at == 0xf0 || (*at == 0x0f && at[1] == 0xae && (at[2] == 0xf8 || at[2] == 0xf0))
		|| ((*at | 1) == 0x87 && at[1] < 0xc0);
}

static void step(int signal, siginfo_t *info, void *state)
{
	(void)signal;
	(void)info;
	look_at_record();
	look_at_registers();
	if (w.fence_is_next) {
		w.fenced = true;
		w.rung = false;
	}
	w.fence_is_next = is_fence((void *)((ucontext_t *)state)->uc_mcontext.gregs[REG_RIP]);
}

/* The flag of the processor with which each instruction ends in a signal. The stack below its pointer may be in use. */
#define TRAP_FLAG(change) \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " change ", (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::: "cc", "memory")

/* From now on, watches what this thread posts to the queue pair. False if there is none, or its registers are unknown. */
EXPORT bool mlx5sim_watch(uint32_t qpn)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct qp *qp;
	pthread_mutex_lock(&sim_lock);
	qp = peer_of(qpn);
	memset(&w, 0, sizeof(w));
	if (qp && qp->doorbells) {
		w.qpn = qpn;
		w.count = qp->sq_cnt;
		w.queue = qp->sq;
		w.record = &qp->db[1];
		w.page = qp->doorbells;
		w.from = w.posted = be32toh(*w.record);
		for (int r = 0; r < REGISTERS; r++)
			w.registers[r] = *(const uint64_t *)(w.page + FIRST_REGISTER + r * REGISTER_SIZE);
	}
	pthread_mutex_unlock(&sim_lock);
	if (!w.page || sigaction(SIGTRAP, &action, NULL))
		return false;
	TRAP_FLAG("orq $0x100");
	return true;
}

/* Ends the watch. Returns what was wrong, a mask, 0 if nothing. */
EXPORT int mlx5sim_watched(void)
{
	TRAP_FLAG("andq $~0x100");
	if (w.announced)
		w.faults |= NOT_RUNG;
	if (w.rung)
		w.faults |= NOT_FLUSHED;
	return w.faults;
}

/* How many doorbells the last watch has seen. */
EXPORT int mlx5sim_doorbells(void)
{
	return w.doorbells;
}
