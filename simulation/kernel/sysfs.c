/* The files of sysfs in which libibverbs looks for devices, in a directory to which paths.c leads. */
#include "kernel.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <rdma/rdma_user_cm.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int sim_trace;
static char tree[PATH_MAX - 256];

/* By another name first, because other processes may read the file, or write the same. */
static void put(const char *name, const char *format, ...)
{
	char path[PATH_MAX], other[PATH_MAX], text[256];
	va_list args;
	int fd, n;
	snprintf(path, sizeof(path), "%s/%s", tree, name);
	for (char *p = path + strlen(tree); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	snprintf(other, sizeof(other), "%s/new.%d", tree, getpid());
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fd = syscall(SYS_openat, AT_FDCWD, other, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || syscall(SYS_write, fd, text, n) != n || syscall(SYS_close, fd) || rename(other, path)) {
		perror(path);
		abort();
	}
}

static void make_tree(void)
{
	char name[64];
	put("dev/infiniband/uverbs0", "\n");
	put("dev/infiniband/rdma_cm", "\n");
	put("class/infiniband_verbs/abi_version", "6\n");
	put("class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	put("class/infiniband_verbs/uverbs0/abi_version", "1\n");
	put("class/infiniband_verbs/uverbs0/dev", NUMBERS "\n");
	put("class/misc/rdma_cm/abi_version", "%d\n", RDMA_USER_CM_ABI_VERSION);
	put("class/infiniband/mlx5_0/node_type", "1: CA\n");
	put("class/infiniband/mlx5_0/node_guid", "b83f:d203:0012:3456\n");
	put("class/infiniband/mlx5_0/sys_image_guid", "b83f:d203:0012:3456\n");
	put("class/infiniband/mlx5_0/node_desc", "mlx5sim\n");
	put("class/infiniband/mlx5_0/fw_ver", "20.31.1014\n");
	put("class/infiniband/mlx5_0/hw_rev", "0\n");
	put("class/infiniband/mlx5_0/hca_type", "MT4123\n");
	put("class/infiniband/mlx5_0/board_id", BOARD "\n");
	put("class/infiniband/mlx5_0/device/modalias", "pci:v000015B3d0000101Bsv000015B3sd00000008bc02sc07i00\n");
	put("class/infiniband/mlx5_0/device/vendor", "0x15b3\n");
	put("class/infiniband/mlx5_0/device/device", "0x101b\n");
	put("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	put("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	put("class/infiniband/mlx5_0/ports/1/pkeys/0", "0xffff\n");
	for (int i = 0; i < sim_num_gids; i++) {
		const uint8_t *g = sim_gids[i];
		snprintf(name, sizeof(name), "class/infiniband/mlx5_0/ports/1/gids/%d", i);
		put(name, "%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x\n", g[0], g[1], g[2], g[3],
			g[4], g[5], g[6], g[7], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
		snprintf(name, sizeof(name), "class/infiniband/mlx5_0/ports/1/gid_attrs/types/%d", i);
		put(name, i & 1 ? "RoCE v2\n" : "IB/RoCE v1\n");
		snprintf(name, sizeof(name), "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/%d", i);
		put(name, "lo\n");
	}
}

/* Beside the library, where the build puts it, unless MLX5SIM_TREE names another directory. */
static void find_tree(void)
{
	const char *given = getenv("MLX5SIM_TREE");
	Dl_info library = {0};
	char *end;
	if (given) {
		snprintf(tree, sizeof(tree), "%s", given);
		return;
	}
	dladdr(find_tree, &library);
	snprintf(tree, sizeof(tree), "%s", library.dli_fname);
	end = strrchr(tree, '/');
	snprintf(end ? end + 1 : tree, 16, "sysfs");
}

const char *sim_tree(void)
{
	return tree;
}

__attribute__((constructor)) static void start(void)
{
	char last[PATH_MAX];
	sim_trace = getenv("MLX5SIM_TRACE") != NULL;
	find_tree();
	snprintf(last, sizeof(last), "%s/complete", tree);
	if (access(last, F_OK)) {
		make_tree();
		put("complete", "\n");
	}
}
