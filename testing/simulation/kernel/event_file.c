/* The files of completion events and of asynchronous events: an eventfd that counts, and a list of what it counts. */
#include "kernel.h"
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

struct event_file *event_file_new(size_t size)
{
	struct event_file *f = calloc(1, sizeof(*f));
	f->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	f->size = size;
	f->last = &f->first;
	pthread_mutex_init(&f->lock, NULL);
	remember(f->fd, FD_EVENTS, f);
	return f;
}

struct event_file *event_file_of(int fd)
{
	return kind_of(fd) == FD_EVENTS ? object_of(fd) : NULL;
}

void event_push(struct event_file *f, const void *owner, uint32_t *reported, uint64_t element, uint32_t type)
{
	struct event *e;
	uint64_t one = 1;
	if (!f)
		return;
	e = calloc(1, sizeof(*e));
	e->owner = owner;
	e->reported = reported;
	e->desc.element = element;
	e->desc.event_type = type;
	pthread_mutex_lock(&f->lock);
	if (f->fd < 0) {
		free(e);
	} else {
		*f->last = e;
		f->last = &e->next;
		syscall(SYS_write, f->fd, &one, sizeof(one));
	}
	pthread_mutex_unlock(&f->lock);
}

/* Takes back what an object that is being destroyed has sent and nobody has read. */
void event_purge(struct event_file *f, const void *owner)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	for (struct event **at = &f->first; *at;) {
		struct event *e = *at;
		if (e->owner == owner) {
			uint64_t token;
			int flags;
			*at = e->next;
			free(e);
			flags = syscall(SYS_fcntl, f->fd, F_GETFL);
			syscall(SYS_fcntl, f->fd, F_SETFL, flags | O_NONBLOCK);
			syscall(SYS_read, f->fd, &token, sizeof(token));
			syscall(SYS_fcntl, f->fd, F_SETFL, flags);
		} else {
			at = &e->next;
		}
	}
	for (f->last = &f->first; *f->last;)
		f->last = &(*f->last)->next;
	pthread_mutex_unlock(&f->lock);
}

ssize_t event_read(struct event_file *f, void *buf, size_t size)
{
	for (;;) {
		uint64_t token;
		struct event *e;
		if (size < f->size)
			return errno = EINVAL, -1;
		if (syscall(SYS_read, f->fd, &token, sizeof(token)) < 0)
			return -1;
		pthread_mutex_lock(&f->lock);
		e = f->first;
		if (e) {
			f->first = e->next;
			if (!f->first)
				f->last = &f->first;
			if (e->reported)
				++*e->reported;
		}
		pthread_mutex_unlock(&f->lock);
		if (e) {
			memcpy(buf, &e->desc, f->size);
			free(e);
			return f->size;
		}
	}
}

/* The program has closed the descriptor, but objects may still point to the file. */
void event_file_closed(struct event_file *f)
{
	pthread_mutex_lock(&f->lock);
	f->fd = -1;
	pthread_mutex_unlock(&f->lock);
}
