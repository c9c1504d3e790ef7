/* The pages of doorbell registers: ordinary memory here, which nobody needs to read, but which a test may watch. */
#include "kernel.h"

#define DYNAMIC_UAR_LENGTH 4096

static uint32_t next_page;

int alloc_uar(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct uar *uar = object_new(ctx, sizeof(*uar), O_UAR);
	uar->offset = mmap_offset(MMAP_UAR, next_page);
	attr_out_u64(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, uar->offset);
	attr_out_u32(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, DYNAMIC_UAR_LENGTH);
	uar->page = ++next_page;
	attr_out_u32(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uar->page);
	attr_out_object(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &uar->o);
	return 0;
}

/* The next one of the pages of a context, or the first one. */
static struct uar *next(struct context *ctx, struct uar *after)
{
	for (uint32_t i = after ? after->o.handle + 1 : 1; i < ctx->num_objs; i++)
		if (ctx->objs[i] && ctx->objs[i]->type == O_UAR)
			return (struct uar *)ctx->objs[i];
	return NULL;
}

void uar_mapped(struct context *ctx, uint64_t offset, void *at)
{
	pthread_mutex_lock(&sim_lock);
	for (struct uar *uar = next(ctx, NULL); uar; uar = next(ctx, uar))
		if (uar->offset == offset)
			uar->at = at;
	pthread_mutex_unlock(&sim_lock);
}

/* Where a page is mapped that was allocated with this number, or NULL. */
char *uar_page(struct context *ctx, uint32_t page)
{
	for (struct uar *uar = next(ctx, NULL); uar; uar = next(ctx, uar))
		if (uar->page == page)
			return uar->at;
	return NULL;
}
