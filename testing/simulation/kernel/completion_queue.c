/* The commands of completion queues. */
#include "kernel.h"
#include <unistd.h>

int create_cq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct mlx5_ib_create_cq m;
	struct mlx5_ib_create_cq_resp resp = {0};
	struct cq *cq;
	uint32_t cqe = attr_in_number(h, UVERBS_ATTR_CREATE_CQ_CQE);
	struct event_file *channel = NULL;
	if (attr_has(h, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)
	    && !(channel = event_file_of((int)attr_in_number(h, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL))))
		return EINVAL;
	if (attr_in_number(h, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) >= (uint64_t)sysconf(_SC_NPROCESSORS_ONLN))
		return EINVAL;
	if (cqe & (cqe + 1) || cqe >= 1 << 22) /* libmlx5 asks for a power of two less one */
		return EINVAL;
	attr_in_copy(h, UVERBS_ATTR_UHW_IN, &m, sizeof(m));
	cq = object_new(ctx, sizeof(*cq), O_CQ);
	object_events(h, &cq->o, UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	cq->cqn = next_number++;
	cq->cqe = cqe;
	cq->cqe_size = m.cqe_size;
	cq->buf = (char *)(uintptr_t)m.buf_addr;
	cq->db = (void *)(uintptr_t)m.db_addr;
	cq->db[1] = ARM_IDLE;
	cq->fired_sn = -1;
	cq->user = attr_in_number(h, UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
	cq->channel = channel;
	cq->ignore_overrun = attr_in_number(h, UVERBS_ATTR_CREATE_CQ_FLAGS) & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	cq->next = sim_cqs;
	sim_cqs = cq;
	resp.cqn = cq->cqn;
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out_u32(h, UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe);
	attr_out_object(h, UVERBS_ATTR_CREATE_CQ_HANDLE, &cq->o);
	return 0;
}

int resize_cq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_resize_cq *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct cq *cq = (struct cq *)sim_obj(ctx, req->cq_handle, O_CQ);
	struct ib_uverbs_resize_cq_resp resp = {.cqe = req->cqe};
	struct mlx5_ib_resize_cq m;
	struct mlx5_cqe64 *last;
	if (!cq || req->cqe & (req->cqe + 1))
		return EINVAL;
	if (cq->pi - (be32toh(cq->db[0]) & 0xffffff) > req->cqe)
		return EINVAL;
	attr_in_copy(h, UVERBS_ATTR_UHW_IN, &m, sizeof(m));
	/* the end of the old buffer, after which libmlx5 goes on in the new one */
	last = (void *)(cq->buf + (cq->pi & cq->cqe) * cq->cqe_size + cq->cqe_size - 64);
	__atomic_store_n(&last->op_own, MLX5_CQE_RESIZE_CQ << 4 | !!(cq->pi & (cq->cqe + 1)), __ATOMIC_RELEASE);
	cq->pi++;
	cq->buf = (char *)(uintptr_t)m.buf_addr;
	cq->cqe = req->cqe;
	cq->cqe_size = m.cqe_size;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}
