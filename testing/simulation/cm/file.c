/*
 * The descriptors of /dev/infiniband/rdma_cm and their events. A descriptor is an eventfd, so that poll and epoll work;
 * it is readable while there are events, which is kept true under the lock.
 */
#include "cm.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FILES 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cm_file *files[MAX_FILES];

void cm_enter(void)
{
	pthread_mutex_lock(&lock);
}

/* Delivers what was sent, then gives the lock back. */
void cm_leave(void)
{
	messages_deliver();
	pthread_mutex_unlock(&lock);
}

struct cm_file *cm_file_of(int fd)
{
	return fd >= 0 && fd < MAX_FILES ? files[fd] : NULL;
}

int cm_open(int flags)
{
	struct cm_file *file;
	int fd = eventfd(0, flags & O_CLOEXEC ? EFD_CLOEXEC : 0);
	if (fd < 0)
		return -1;
	if (fd >= MAX_FILES) {
		syscall(SYS_close, fd);
		errno = EMFILE;
		return -1;
	}
	file = calloc(1, sizeof(*file));
	file->fd = fd;
	file->last = &file->first;
	pthread_mutex_lock(&lock);
	files[fd] = file;
	pthread_mutex_unlock(&lock);
	return fd;
}

void cm_close(int fd)
{
	struct cm_file *file;
	cm_enter();
	file = cm_file_of(fd);
	if (file) {
		while (file->ids)
			cm_id_destroy(file->ids);
		files[fd] = NULL;
		free(file);
	}
	cm_leave();
}

static void signal_readable(struct cm_file *file)
{
	uint64_t one = 1;
	syscall(SYS_write, file->fd, &one, sizeof(one));
}

/* Only while the counter is not 0, so that it does not block. */
static void signal_empty(struct cm_file *file)
{
	uint64_t value;
	syscall(SYS_read, file->fd, &value, sizeof(value));
}

static void append(struct cm_file *file, struct cm_event *e)
{
	bool was_empty = !file->first;
	e->next = NULL;
	*file->last = e;
	file->last = &e->next;
	if (was_empty)
		signal_readable(file);
}

static struct cm_event *unlink_at(struct cm_file *file, struct cm_event **at)
{
	struct cm_event *e = *at;
	*at = e->next;
	if (file->last == &e->next)
		file->last = at;
	if (!file->first)
		signal_empty(file);
	return e;
}

/* Events of a request are dropped until the program has accepted it, because it does not know the identifier before. */
void cm_event_with(struct cm_id *id, struct group *group, struct cm_id *request, const struct rdma_ucm_event_resp *body)
{
	struct cm_event *e;
	if (!id->uid)
		return;
	e = calloc(1, sizeof(*e));
	e->id = id;
	e->group = group;
	e->request = request;
	e->body = *body;
	e->body.uid = group ? group->uid : id->uid;
	e->body.id = group ? group->handle : request ? request->handle : id->handle;
	append(id->file, e);
}

void cm_event(struct cm_id *id, enum cm_event_type type, int status)
{
	struct rdma_ucm_event_resp body = {.event = type, .status = status};
	cm_event_with(id, NULL, NULL, &body);
}

/* Takes back what nobody has read: of an identifier, with the requests to it, or of a membership. */
void cm_forget_events(struct cm_id *id, struct group *group)
{
	struct cm_file *file = id->file;
	for (struct cm_event **at = &file->first; *at;) {
		struct cm_event *e = *at;
		if (group ? e->group != group : e->id != id) {
			at = &e->next;
			continue;
		}
		unlink_at(file, at);
		if (e->request) {
			cm_id_destroy(e->request);
			at = &file->first; /* other events may be gone as well */
		}
		free(e);
	}
}

void cm_move_events(struct cm_id *id, struct cm_file *to)
{
	struct cm_file *from = id->file;
	for (struct cm_event **at = &from->first; *at;) {
		struct cm_event *e = *at;
		if (e->id != id) {
			at = &e->next;
			continue;
		}
		unlink_at(from, at);
		if (e->request)
			cm_id_to_file(e->request, to);
		append(to, e);
	}
}

static int wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int flags = syscall(SYS_fcntl, fd, F_GETFL);
	if (flags < 0)
		return errno;
	if (flags & O_NONBLOCK)
		return EAGAIN;
	return syscall(SYS_ppoll, &p, 1, NULL, NULL, 0) < 0 ? errno : 0;
}

/* Waits for an event unless the descriptor does not block. The lock is held before and after. */
int cm_take_event(int fd, struct rdma_ucm_event_resp *to)
{
	struct cm_file *file;
	struct cm_event *e;
	while ((file = cm_file_of(fd)) && !file->first) {
		int error;
		cm_leave();
		error = wait_readable(fd);
		cm_enter();
		if (error)
			return error;
	}
	if (!file)
		return EBADF;
	e = unlink_at(file, &file->first);
	*to = e->body;
	e->id->events_reported++;
	if (e->group)
		e->group->events_reported++;
	if (e->request)
		e->id->backlog++;
	free(e);
	return 0;
}
