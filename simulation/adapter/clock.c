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

/* A program reads the higher half before and after the lower one. */
void clock_tick(void)
{
	uint64_t cycles = clock_cycles();
	if (!page)
		return;
	page->high = htobe32(cycles >> 32);
	page->low = htobe32(cycles);
}
