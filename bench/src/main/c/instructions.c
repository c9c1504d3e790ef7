/* Counts the instructions that a thread executes outside the kernel. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns a counter of the calling thread, or the negative errno value. */
int open_counter(void)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	long counter = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	return counter < 0 ? -errno : (int)counter;
}

/* Returns the number of instructions counted so far, or -1. */
int64_t count(int counter)
{
	int64_t instructions;
	return read(counter, &instructions, sizeof instructions) == sizeof instructions ? instructions : -1;
}
