/* Which descriptors of the process belong to the simulation, and the object behind each. */
#include "kernel.h"

static _Atomic(void *) objects[MAX_FDS];
static _Atomic uint8_t kinds[MAX_FDS];

enum fd_kind kind_of(int fd)
{
	return fd < 0 || fd >= MAX_FDS ? FD_OTHER : atomic_load_explicit(&kinds[fd], memory_order_acquire);
}

void *object_of(int fd)
{
	return objects[fd];
}

bool remember(int fd, enum fd_kind kind, void *object)
{
	if (fd < 0 || fd >= MAX_FDS)
		return false;
	objects[fd] = object;
	atomic_store_explicit(&kinds[fd], kind, memory_order_release);
	return true;
}
