/*
 * The functions of libc through which libibverbs, libmlx5 and librdmacm reach the kernel: for the files of the simulated
 * device, the simulation answers. Everything else goes to the kernel unchanged, by system calls, so that no function of
 * libc has to be looked up.
 */
#include "kernel.h"
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_cm.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_device(int flags, bool efa)
{
	int fd = syscall(SYS_openat, AT_FDCWD, STANDS_FOR, O_RDWR | (flags & O_CLOEXEC), 0);
	if (!remember(fd, FD_UVERBS, sim_context_new(efa)))
		return -1;
	TRACE("open %d\n", fd);
	return fd;
}

int open_cm(int flags)
{
	int fd = cm_open(flags);
	if (fd >= 0)
		remember(fd, FD_CM, NULL);
	return fd;
}

/*
 * Finds the context of a descriptor that was duplicated without these functions, as Java code does: the descriptor of an
 * import. kcmp tells whether two descriptors are of the same open file.
 */
static bool adopt(int fd)
{
	for (int other = 0; other < MAX_FDS; other++)
		if (kind_of(other) == FD_UVERBS
		    && !syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, (unsigned long)fd, (unsigned long)other))
			return remember(fd, FD_UVERBS, sim_context_open(object_of(other)));
	return false;
}

/* librdmacm wants a character device; what it has is an eventfd. */
EXPORT int fstat(int fd, struct stat *st)
{
	return kind_of(fd) == FD_CM ? stat(STANDS_FOR, st) : syscall(SYS_fstat, fd, st);
}

EXPORT int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

EXPORT ssize_t write(int fd, const void *buf, size_t size)
{
	struct rdma_ucm_cmd_hdr header = {0};
	int error;
	if (kind_of(fd) != FD_CM)
		return syscall(SYS_write, fd, buf, size);
	memcpy(&header, buf, size < sizeof(header) ? size : sizeof(header));
	error = header.cmd == RDMA_USER_CM_CMD_DESTROY_ID ? refusal("end of identifier", 0, 0)
		: refusal("rdma_cm command", header.cmd, 0);
	return error ? errno = error, -1 : cm_write(fd, buf, size);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && (kind_of(fd) == FD_UVERBS || adopt(fd))) {
		int error = refusal_of_command(arg);
		error = error ? error : sim_ioctl(object_of(fd), arg);
		return error ? errno = error, -1 : 0;
	}
	return syscall(SYS_ioctl, fd, request, arg);
}

EXPORT ssize_t read(int fd, void *buf, size_t size)
{
	if (kind_of(fd) == FD_EVENTS) {
		int error = refusal("read of events", 0, 0);
		return error ? errno = error, -1 : event_read(object_of(fd), buf, size);
	}
	return syscall(SYS_read, fd, buf, size);
}

EXPORT int close(int fd)
{
	enum fd_kind kind = kind_of(fd);
	if (kind == FD_UVERBS) {
		struct context *ctx = object_of(fd);
		remember(fd, FD_OTHER, NULL);
		TRACE("close %d\n", fd);
		sim_context_close(ctx);
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
		struct context *ctx = object_of(fd);
		struct dm *dm = sim_dm_at(ctx, offset);
		int error = refusal("mmap", 0, 0);
		if (error)
			return errno = error, MAP_FAILED;
		if (ctx->efa)
			return efa_map(offset, length);
		if ((uint64_t)offset == mmap_offset(MLX5_IB_MMAP_CORE_CLOCK, 0))
			return clock_map();
		if ((uint64_t)offset == mmap_offset(MLX5_IB_MMAP_CLOCK_INFO, MLX5_IB_CLOCK_INFO_V1))
			return clock_info_map();
		TRACE("mmap %zu at %lx\n", length, (long)offset);
		if (dm)
			return dm_map(dm);
		at = (void *)syscall(SYS_mmap, at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		uar_mapped(ctx, offset, at);
		return at;
	}
	return (void *)syscall(SYS_mmap, at, length, prot, flags, fd, offset);
}

EXPORT void *mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	return mmap(at, length, prot, flags, fd, offset);
}
