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
static char tree[PATH_MAX - 256], efa_tree[PATH_MAX - 128];

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

/* The files that each device has, below a directory of the tree. */
static void put_device(const char *top, const char *uverbs, const char *name, const char *node_type, const char *vendor,
	const char *part, const char *modalias)
{
	char file[128];
#define PUT(value, ...) (snprintf(file, sizeof(file), __VA_ARGS__), put(file, "%s\n", value))
	PUT("", "%sdev/infiniband/%s", top, uverbs);
	PUT("6", "%sclass/infiniband_verbs/abi_version", top);
	PUT(name, "%sclass/infiniband_verbs/%s/ibdev", top, uverbs);
	PUT("1", "%sclass/infiniband_verbs/%s/abi_version", top, uverbs);
	PUT(NUMBERS, "%sclass/infiniband_verbs/%s/dev", top, uverbs);
	PUT(node_type, "%sclass/infiniband/%s/node_type", top, name);
	PUT("b83f:d203:0012:3456", "%sclass/infiniband/%s/node_guid", top, name);
	PUT("b83f:d203:0012:3456", "%sclass/infiniband/%s/sys_image_guid", top, name);
	PUT(modalias, "%sclass/infiniband/%s/device/modalias", top, name);
	PUT(vendor, "%sclass/infiniband/%s/device/vendor", top, name);
	PUT(part, "%sclass/infiniband/%s/device/device", top, name);
	PUT("4: ACTIVE", "%sclass/infiniband/%s/ports/1/state", top, name);
	PUT("0xffff", "%sclass/infiniband/%s/ports/1/pkeys/0", top, name);
#undef PUT
}

static void put_gid(const char *top, const char *name, int index, const char *type)
{
	const uint8_t *g = sim_gids[index];
	char file[128];
	snprintf(file, sizeof(file), "%sclass/infiniband/%s/ports/1/gids/%d", top, name, index);
	put(file, "%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x\n", g[0], g[1], g[2], g[3],
		g[4], g[5], g[6], g[7], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
	snprintf(file, sizeof(file), "%sclass/infiniband/%s/ports/1/gid_attrs/types/%d", top, name, index);
	put(file, "%s\n", type);
}

static void make_tree(void)
{
	char name[64];
	put_device("", "uverbs0", "mlx5_0", "1: CA", "0x15b3", "0x101b",
		"pci:v000015B3d0000101Bsv000015B3sd00000008bc02sc07i00");
	put("dev/infiniband/rdma_cm", "\n");
	put("class/misc/rdma_cm/abi_version", "%d\n", RDMA_USER_CM_ABI_VERSION);
	put("class/infiniband/mlx5_0/node_desc", "mlx5sim\n");
	put("class/infiniband/mlx5_0/fw_ver", "20.31.1014\n");
	put("class/infiniband/mlx5_0/hw_rev", "0\n");
	put("class/infiniband/mlx5_0/hca_type", "MT4123\n");
	put("class/infiniband/mlx5_0/board_id", BOARD "\n");
	put("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	for (int i = 0; i < sim_num_gids; i++) {
		put_gid("", "mlx5_0", i, i & 1 ? "RoCE v2" : "IB/RoCE v1");
		snprintf(name, sizeof(name), "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/%d", i);
		put(name, "lo\n");
	}
	put_device("efa/", "uverbs1", "efa_0", "7: <unknown>", "0x1d0f", "0xefa1",
		"pci:v00001D0Fd0000EFA1sv00001D0Fsd0000EFA1bc02sc00i00");
	put("efa/class/infiniband/efa_0/fw_ver", "0.0.0.0\n");
	put("efa/class/infiniband/efa_0/ports/1/link_layer", "Unspecified\n");
	put_gid("efa/", "efa_0", 0, "IB/RoCE v1");
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

static _Atomic bool is_efa;

/* From now on, programs find a device of EFA instead of mlx5. Those that are open stay what they are. */
EXPORT void mlx5sim_efa(bool efa)
{
	is_efa = efa;
}

const char *sim_tree(void)
{
	return is_efa ? efa_tree : tree;
}

__attribute__((constructor)) static void start(void)
{
	char last[PATH_MAX];
	sim_trace = getenv("MLX5SIM_TRACE") != NULL;
	find_tree();
	snprintf(efa_tree, sizeof(efa_tree), "%s/efa", tree);
	snprintf(last, sizeof(last), "%s/complete", tree);
	if (access(last, F_OK)) {
		make_tree();
		put("complete", "\n");
	}
}
