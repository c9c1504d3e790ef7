/* Binds memory windows, and frees them. */
#include "../wire/wire.h"
#include "adapter.h"

#define BIND_RKEY_MASK 0xff

void unbind_window(struct mkey *window)
{
	if (window->region)
		window->region->windows--;
	window->region = NULL;
	window->bound = false;
}

/* Returns a syndrome, or 0. */
int change_window(struct qp *qp, struct wqe *w)
{
	uint32_t key = be32toh(w->imm);
	struct mlx5_wqe_mkey_context_seg *ctx = (void *)(w->bytes + 64);
	bool ends = ctx->free & MLX5_WQE_MKEY_CONTEXT_FREE;
	/* libmlx5 names a window by the key of its last bind, also after that was invalidated. */
	struct mkey *mk = ends ? mkey_find(key) : mkey_at(key), *of;
	if (!mk || !mk->window || mk->pd != qp->pd)
		return MLX5_CQE_SYNDROME_MW_BIND_ERR;
	if (ends) {
		if (mk->type2 && (!mk->bound || mk->qpn != qp->qpn))
			return MLX5_CQE_SYNDROME_MW_BIND_ERR;
		unbind_window(mk);
		mk->free = true;
	} else {
		struct mlx5_wqe_umr_klm_seg *klm = (void *)(w->bytes + 128);
		uint64_t length = be64toh(ctx->len), at = be64toh(klm->address);
		of = mkey_find(be32toh(klm->mkey));
		if (!of || of->window || of->pd != mk->pd || !(of->access & IBV_ACCESS_MW_BIND) || at < of->iova
		    || at + length > of->iova + of->length || (mk->type2 && mk->bound))
			return MLX5_CQE_SYNDROME_MW_BIND_ERR;
		mk->access = 0;
		if (ctx->access_flags & MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ)
			mk->access |= IBV_ACCESS_REMOTE_READ;
		if (ctx->access_flags & MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_WRITE)
			mk->access |= IBV_ACCESS_REMOTE_WRITE;
		if (ctx->access_flags & MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_ATOMIC)
			mk->access |= IBV_ACCESS_REMOTE_ATOMIC;
		if (mk->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) && !(of->access & IBV_ACCESS_LOCAL_WRITE))
			return MLX5_CQE_SYNDROME_MW_BIND_ERR;
		mk->iova = be64toh(ctx->start_addr);
		mk->length = length;
		mk->start = of->start + (at - of->iova);
		mk->qpn = qp->qpn;
		unbind_window(mk);
		mk->region = of;
		of->windows++;
		mk->bound = true;
		mk->free = false;
	}
	mk->key = (mk->key & ~BIND_RKEY_MASK) | (be32toh(ctx->qpn_mkey) & BIND_RKEY_MASK);
	return 0;
}

enum outcome bind_window(struct qp *qp, struct wqe *w)
{
	int error;
	if (!window_went_ahead(qp) && (error = change_window(qp, w)))
		return fail_request(qp, w, error);
	complete_request(qp, w, 0, NULL);
	return DONE;
}
