/* Registered memory of other kinds. */
#define _GNU_SOURCE
#include "common/pair.h"
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 8192 };

/* A file in memory stands for the memory of another device. */
static void dma_buffers(void)
{
	int fd = memfd_create("dma buffer", MFD_CLOEXEC);
	struct ibv_mr *region;
	struct end e[2];
	char *seen;
	CHECK(!ftruncate(fd, BYTES));
	seen = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(!ibv_reg_dmabuf_mr(pd, 4096, BYTES, 4096, fd, IBV_ACCESS_LOCAL_WRITE) && errno == EINVAL); /* past its end */
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, BYTES, 0, 9999, IBV_ACCESS_LOCAL_WRITE) && errno == EBADF);
	region = ibv_reg_dmabuf_mr(pd, 100, BYTES - 100, 100, fd, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(region);
	close(fd);
	make(e, 0, 7, NULL, NULL);
	fill(buf, 64, 3);
	CHECK(!post(e[0].qp, 1, IBV_WR_RDMA_WRITE, buf, 64, IBV_SEND_SIGNALED, (char *)5000, region->rkey, 0));
	CHECK(wait_one(e[0].cq).status == IBV_WC_SUCCESS && !memcmp(seen + 5000, buf, 64));
	drop(e);
	CHECK(!ibv_dereg_mr(region) && !munmap(seen, BYTES));
}

int main(void)
{
	open_device();
	RUN(dma_buffers());
	close_device();
	return result();
}
