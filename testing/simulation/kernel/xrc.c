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

static bool is_same(const struct xrcd *a, const struct xrcd *b)
{
	return a == b || (a->inode && a->inode == b->inode && a->device == b->device);
}

/* Another handle of a queue pair that receives for XRC, in any context that has its domain. */
int open_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_open_qp *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct ib_uverbs_create_qp_resp resp = {.qpn = req->qpn};
	struct xrcd *xrcd = (struct xrcd *)sim_obj(ctx, req->pd_handle, O_XRCD);
	struct opened *opened;
	struct qp *qp = sim_qps;
	while (qp && qp->qpn != req->qpn)
		qp = qp->next;
	if (!xrcd || req->qp_type != IBV_QPT_XRC_RECV || !qp || qp->type != IBV_QPT_XRC_RECV
	    || !is_same(xrcd, (struct xrcd *)qp->xrcd))
		return EINVAL;
	opened = object_new(ctx, sizeof(*opened), O_OPENED);
	opened->qp = qp;
	qp->opened++;
	resp.qp_handle = opened->o.handle;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}

/* The queue pair of a handle, which may be one of several. */
struct qp *qp_of(struct context *ctx, uint64_t handle)
{
	struct opened *opened = (struct opened *)sim_obj(ctx, handle, O_OPENED);
	return opened ? opened->qp : (struct qp *)sim_obj(ctx, handle, O_QP);
}

/* Closes a handle, and with the last one the queue pair. */
int qp_close(struct context *ctx, uint64_t handle)
{
	struct obj *opened = sim_obj(ctx, handle, O_OPENED);
	struct qp *qp = qp_of(ctx, handle);
	if (!qp)
		return EINVAL;
	if (opened) {
		object_forget(opened);
		qp->opened--;
	} else {
		qp->closed = true;
	}
	return qp->closed && !qp->opened ? object_destroy(&qp->o) : 0;
}

/* The context of a queue pair ends before those that have opened it. */
void qp_ends(struct qp *qp)
{
	for (struct context *ctx = sim_contexts; ctx && qp->opened; ctx = ctx->next)
		for (uint32_t i = 1; i < ctx->num_objs; i++) {
			struct opened *each = (struct opened *)ctx->objs[i];
			if (each && each->o.type == O_OPENED && each->qp == qp)
				each->qp = NULL;
		}
}
