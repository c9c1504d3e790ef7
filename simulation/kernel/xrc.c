/* Domains of XRC. */
#include "kernel.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct xrcd *of_file(uint64_t device, uint64_t inode)
{
	for (struct context *ctx = sim_contexts; ctx; ctx = ctx->next)
		for (uint32_t i = 1; i < ctx->num_objs; i++) {
			struct xrcd *each = (struct xrcd *)ctx->objs[i];
			if (each && each->o.type == O_XRCD && each->inode == inode && each->device == device)
				return each;
		}
	return NULL;
}

/* A file may name a domain, which then all that open it share. */
int open_xrcd(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_open_xrcd *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct ib_uverbs_open_xrcd_resp resp = {0};
	struct stat file = {0};
	struct xrcd *xrcd;
	if (req->fd != (uint32_t)-1) {
		if (syscall(SYS_fstat, req->fd, &file))
			return EBADF;
		xrcd = of_file(file.st_dev, file.st_ino);
		if (!xrcd && !(req->oflags & O_CREAT))
			return EAGAIN;
		if (xrcd && req->oflags & O_EXCL)
			return EINVAL;
	}
	xrcd = object_new(ctx, sizeof(*xrcd), O_XRCD);
	xrcd->device = file.st_dev;
	xrcd->inode = file.st_ino;
	resp.xrcd_handle = xrcd->o.handle;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}
