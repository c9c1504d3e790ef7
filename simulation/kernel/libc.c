/*
 * The functions of libc through which libibverbs, libmlx5 and librdmacm reach the kernel: for the files of the simulated
 * device, the simulation answers. Everything else goes to the kernel unchanged, by system calls, so that no function of
 * libc has to be looked up.
 */
#include "kernel.h"
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_device(int flags)
{
	int fd = syscall(SYS_openat, AT_FDCWD, STANDS_FOR, O_RDWR | (flags & O_CLOEXEC), 0);
	if (!remember(fd, FD_UVERBS, sim_context_new(fd)))
		return -1;
	TRACE("open %d\n", fd);
	return fd;
}

static int open_cm(int flags)
{
	int fd = cm_open(flags);
	if (fd >= 0)
		remember(fd, FD_CM, NULL);
	return fd;
}

static bool needs_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN_BODY(dir, path, flags) \
	mode_t mode = 0; \
	if (needs_mode(flags)) { \
		va_list args; \
		va_start(args, flags); \
		mode = va_arg(args, mode_t); \
		va_end(args); \
	} \
	if (path[0] == '/' && !strcmp(path, DEVICE_FILE)) \
		return open_device(flags); \
	if (path[0] == '/' && !strcmp(path, CM_FILE)) \
		return open_cm(flags); \
	return syscall(SYS_openat, dir, path, flags, mode);

EXPORT int open(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, path, flags) }
EXPORT int open64(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, path, flags) }

static int stat_device(struct stat *st)
{
	return syscall(SYS_newfstatat, AT_FDCWD, STANDS_FOR, st, 0);
}

EXPORT int stat(const char *path, struct stat *st)
{
	if (path[0] == '/' && !strcmp(path, DEVICE_FILE))
		return stat_device(st);
	return syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

EXPORT int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

/* librdmacm wants a character device; what it has is an eventfd. */
EXPORT int fstat(int fd, struct stat *st)
{
	return kind_of(fd) == FD_CM ? stat_device(st) : syscall(SYS_fstat, fd, st);
}

EXPORT int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

EXPORT ssize_t write(int fd, const void *buf, size_t size)
{
	return kind_of(fd) == FD_CM ? cm_write(fd, buf, size) : syscall(SYS_write, fd, buf, size);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (kind_of(fd) == FD_UVERBS && request == RDMA_VERBS_IOCTL) {
		int error = sim_ioctl(object_of(fd), arg);
		return error ? errno = error, -1 : 0;
	}
	return syscall(SYS_ioctl, fd, request, arg);
}

EXPORT ssize_t read(int fd, void *buf, size_t size)
{
	if (kind_of(fd) == FD_EVENTS)
		return event_read(object_of(fd), buf, size);
	return syscall(SYS_read, fd, buf, size);
}

EXPORT int close(int fd)
{
	enum fd_kind kind = kind_of(fd);
	if (kind == FD_UVERBS) {
		struct context *ctx = object_of(fd);
		remember(fd, FD_OTHER, NULL);
		TRACE("close %d\n", fd);
		sim_context_free(ctx);
	} else if (kind == FD_CM) {
		remember(fd, FD_OTHER, NULL);
		cm_close(fd);
	} else if (kind == FD_EVENTS) {
		struct event_file *f = object_of(fd);
		remember(fd, FD_OTHER, NULL);
		event_file_closed(f);
	}
	return syscall(SYS_close, fd);
}

EXPORT int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA)
		return errno = EPROTONOSUPPORT, -1; /* then libibverbs reads sysfs */
	return syscall(SYS_socket, domain, type, protocol);
}

EXPORT void *mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (fd >= 0 && kind_of(fd) == FD_UVERBS) {
		struct dm *dm = sim_dm_at(object_of(fd), offset);
		TRACE("mmap %zu at %lx\n", length, (long)offset);
		if (dm) /* the same memory, which the device knows already */
			return dm->mem;
		return (void *)syscall(SYS_mmap, at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
	return (void *)syscall(SYS_mmap, at, length, prot, flags, fd, offset);
}

EXPORT void *mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	return mmap(at, length, prot, flags, fd, offset);
}
