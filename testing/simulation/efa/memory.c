/* The memory of queues and registers, which a program maps by a key. The adapter has a mapping of its own. */
#include "efa.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_PAGES 4096

static struct pages *all[MAX_PAGES];

bool pages_new(struct pages *p, size_t size)
{
	int i = 0;
	while (i < MAX_PAGES && all[i])
		i++;
	if (i == MAX_PAGES)
		return false;
	p->size = (size + 4095) & ~4095ul;
	p->file = syscall(SYS_memfd_create, "efa queue", 0x1 /* close on exec */);
	syscall(SYS_ftruncate, p->file, p->size);
	p->at = (char *)syscall(SYS_mmap, NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->file, 0);
	p->key = (i + 1) * 4096ull;
	all[i] = p;
	return true;
}

void pages_free(struct pages *p)
{
	if (!p->key)
		return;
	all[p->key / 4096 - 1] = NULL;
	syscall(SYS_munmap, p->at, p->size);
	syscall(SYS_close, p->file);
	p->key = 0;
}

void *efa_map(uint64_t key, size_t length)
{
	void *at = MAP_FAILED;
	uint64_t i = key / 4096 - 1;
	pthread_mutex_lock(&sim_lock);
	if (i < MAX_PAGES && all[i] && length <= all[i]->size)
		at = (void *)syscall(SYS_mmap, NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, all[i]->file, 0);
	else
		errno = EINVAL;
	pthread_mutex_unlock(&sim_lock);
	return at;
}
