/*
 * The functions of libc that take a path: those below /sys/class/infiniband and /dev/infiniband lead to the files that
 * sysfs.c writes, for programs that look there themselves.
 */
#include "kernel.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct { const char *seen, *in_tree; } roots[] = {
	{"/sys/class/infiniband", "/class/infiniband"}, /* and infiniband_verbs */
	{"/sys/class/misc/rdma_cm", "/class/misc/rdma_cm"},
	{"/dev/infiniband", "/dev/infiniband"},
};

/* The path itself, or the one in the tree, written to other. */
static const char *in_tree(const char *path, char other[PATH_MAX])
{
	for (unsigned int i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		size_t n = strlen(roots[i].seen);
		if (path && !strncmp(path, roots[i].seen, n)) {
			snprintf(other, PATH_MAX, "%s%s%s", sim_tree(), roots[i].in_tree, path + n);
			return other;
		}
	}
	return path;
}

static bool needs_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_path(int dir, const char *path, int flags, mode_t mode)
{
	char other[PATH_MAX];
	if (path && (!strcmp(path, DEVICE_FILE) || !strcmp(path, EFA_FILE)))
		return open_device(flags, !strcmp(path, EFA_FILE));
	if (path && !strcmp(path, CM_FILE))
		return open_cm(flags);
	return syscall(SYS_openat, dir, in_tree(path, other), flags, mode);
}

#define MODE(flags) \
	mode_t mode = 0; \
	if (needs_mode(flags)) { \
		va_list args; \
		va_start(args, flags); \
		mode = va_arg(args, mode_t); \
		va_end(args); \
	}

EXPORT int open(const char *path, int flags, ...)
{
	MODE(flags)
	return open_path(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	MODE(flags)
	return open_path(dir, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));
EXPORT int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));

/* The file of the device has the numbers of what open returns, except for those who ask what it is called. */
static const char *for_stat(const char *path, char other[PATH_MAX])
{
	return path && (!strcmp(path, DEVICE_FILE) || !strcmp(path, EFA_FILE) || !strcmp(path, CM_FILE)) ? STANDS_FOR : in_tree(path, other);
}

EXPORT int stat(const char *path, struct stat *st)
{
	char other[PATH_MAX];
	return syscall(SYS_newfstatat, AT_FDCWD, for_stat(path, other), st, 0);
}

EXPORT int lstat(const char *path, struct stat *st)
{
	char other[PATH_MAX];
	return syscall(SYS_newfstatat, AT_FDCWD, for_stat(path, other), st, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	char other[PATH_MAX];
	return syscall(SYS_newfstatat, dir, for_stat(path, other), st, flags);
}

EXPORT int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

EXPORT int lstat64(const char *path, struct stat64 *st)
{
	return lstat(path, (struct stat *)st);
}

EXPORT int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
	return fstatat(dir, path, (struct stat *)st, flags);
}

EXPORT int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *st)
{
	char other[PATH_MAX];
	return syscall(SYS_statx, dir, for_stat(path, other), flags, mask, st);
}

EXPORT int access(const char *path, int mode)
{
	char other[PATH_MAX];
	return syscall(SYS_faccessat, AT_FDCWD, for_stat(path, other), mode);
}

EXPORT DIR *opendir(const char *path)
{
	int fd = open_path(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return fd < 0 ? NULL : fdopendir(fd);
}
