/* The pieces of memory that a request names: found by their keys, gathered and copied. */
#include "../wire/wire.h"
#include "adapter.h"

/* A syndrome, or 0. */
int add_seg(struct segs *segs, struct pd *pd, uint32_t key, uint64_t addr, uint32_t length, uint32_t access,
	uint32_t qpn)
{
	struct mkey *mk;
	char *at = NULL;
	if (key != DUMP_FILL_MKEY || qpn) {
		mk = mkey_find(key);
		if (!mk || mk->pd != pd || (mk->window && (!mk->bound || !qpn || (mk->type2 && mk->qpn != qpn)))
		    || (mk->access & access) != access || addr < mk->iova || addr + length < addr
		    || addr + length > mk->iova + mk->length)
			return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
		/* A page that comes on demand may not exist. */
		if (mk->access & IBV_ACCESS_ON_DEMAND && pin((uintptr_t)mk->start + (addr - mk->iova), length, access))
			return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
		at = mk->start + (addr - mk->iova);
	}
	if (segs->n == MAX_SEGS)
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	segs->s[segs->n++] = (struct seg){at, length};
	segs->total += length;
	return 0;
}

void copy_segs(const struct segs *from, const struct segs *to, uint64_t total)
{
	int i = 0, j = 0;
	uint32_t a = 0, b = 0;
	while (total) {
		uint32_t n = from->s[i].length - a, m = to->s[j].length - b;
		if (m < n)
			n = m;
		if (total < n)
			n = total;
		if (to->s[j].at && from->s[i].at)
			memmove(to->s[j].at + b, from->s[i].at + a, n);
		else if (to->s[j].at)
			memset(to->s[j].at + b, 0, n);
		total -= n;
		if ((a += n) == from->s[i].length)
			a = 0, i++;
		if ((b += n) == to->s[j].length)
			b = 0, j++;
	}
}

/* The data segments of a send request from a given one on; access is 0 or local write. */
int gather(struct qp *qp, struct wqe *w, uint8_t *seg, uint32_t access, struct segs *segs)
{
	if (qp->far)
		return far_data(qp, segs);
	while (seg + 16 <= w->end) {
		uint32_t count = be32toh(*(uint32_t *)seg);
		if (count & MLX5_INLINE_SEG) {
			count &= 0x3ff;
			if (segs->n == MAX_SEGS)
				return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
			segs->s[segs->n++] = (struct seg){(char *)seg + 4, count};
			segs->total += count;
			seg += (4 + count + 15) & ~15u;
		} else {
			struct mlx5_wqe_data_seg *d = (void *)seg;
			int error = add_seg(segs, qp->pd, be32toh(d->lkey), be64toh(d->addr), count ? count : 1u << 31, access, 0);
			if (error)
				return error;
			seg += 16;
		}
	}
	return 0;
}
