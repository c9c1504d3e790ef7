/* The clock of the adapter, with 156.25 MHz: completions have its time, and programs read it from a page. */
#include "adapter.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct clock_page { _Atomic uint32_t high, low; /* big-endian */ };

static int memory = -1;
static struct clock_page *page;

uint64_t sim_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

uint64_t clock_cycles(void)
{
	return sim_now() * 10 / 64;
}

/* A mapping of the page, of which each context has its own. */
void *clock_map(void)
{
	if (!page) {
		memory = syscall(SYS_memfd_create, "mlx5 clock", 0x1 /* close on exec */);
		syscall(SYS_ftruncate, memory, 4096);
		page = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
		clock_tick();
	}
	return (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, memory, 0);
}

/*
 * The time of day at the last tick, from which libmlx5 gets that of a completion: a cycle is 6.4 ns, which is mult / 2^shift.
 * What lacks in its last place is nothing between two ticks.
 */
static struct mlx5_ib_clock_info *info;
static int info_memory = -1;
#define SHIFT 24

/* Readers begin anew if the number has changed meanwhile, or is odd. */
static void tick_info(struct mlx5_ib_clock_info *i, uint64_t cycles)
{
	_Atomic uint32_t *sign = (_Atomic uint32_t *)&i->sign;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	*sign |= MLX5_IB_CLOCK_INFO_KERNEL_UPDATING;
	i->cycles = cycles;
	i->nsec = t.tv_sec * 1000000000ull + t.tv_nsec;
	*sign += 1;
}

void *clock_info_map(void)
{
	if (!info) {
		struct mlx5_ib_clock_info *i;
		info_memory = syscall(SYS_memfd_create, "mlx5 clock info", 0x1 /* close on exec */);
		syscall(SYS_ftruncate, info_memory, 4096);
		i = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, info_memory, 0);
		i->mult = (64ull << SHIFT) / 10;
		i->shift = SHIFT;
		i->mask = ~0ull;
		i->overflow_period = 1000000000;
		tick_info(i, clock_cycles());
		info = i;
	}
	return (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, info_memory, 0);
}

/* A program reads the higher half before and after the lower one. */
void clock_tick(void)
{
	uint64_t cycles = clock_cycles();
	if (info)
		tick_info(info, cycles);
	if (!page)
		return;
	page->high = htobe32(cycles >> 32);
	page->low = htobe32(cycles);
}
