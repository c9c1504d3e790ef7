/* Memory regions, memory windows and device memory. */
#include "kernel.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_MKEYS (1 << 20)

static struct mkey *mkeys[MAX_MKEYS];
#define DM_BYTES(dm) (((dm)->length + 4095) & ~4095ul)

static uint32_t next_mkey = 0x10, next_variant;

/* Whatever the last 8 bits of the key are: a bind changes them. */
struct mkey *mkey_at(uint32_t key)
{
	return key >> 8 < MAX_MKEYS ? mkeys[key >> 8] : NULL;
}

struct mkey *mkey_find(uint32_t key)
{
	struct mkey *mk = mkey_at(key);
	return mk && mk->key == key ? mk : NULL;
}

struct mkey *mkey_new(struct pd *pd)
{
	struct mkey *mk;
	for (uint32_t tried = 0; mkeys[next_mkey]; tried++) {
		if (tried == MAX_MKEYS)
			return NULL;
		next_mkey = next_mkey + 1 < MAX_MKEYS ? next_mkey + 1 : 0x10;
	}
	mk = calloc(1, sizeof(*mk));
	mkeys[next_mkey] = mk;
	mk->key = next_mkey << 8 | (next_variant++ & 0xff);
	mk->pd = pd;
	next_mkey = next_mkey + 1 < MAX_MKEYS ? next_mkey + 1 : 0x10;
	pd->o.users++;
	return mk;
}

void mkey_delete(struct mkey *mk)
{
	mk->pd->o.users--;
	mkeys[mk->key >> 8] = NULL;
	free(mk);
}

struct dm *sim_dm_at(struct context *ctx, uint64_t offset)
{
	struct dm *found = NULL;
	pthread_mutex_lock(&sim_lock);
	for (uint32_t i = 1; i < ctx->num_objs && !found; i++)
		if (ctx->objs[i] && ctx->objs[i]->type == O_DM && mmap_offset(MLX5_IB_MMAP_DEVICE_MEM, i) == offset)
			found = (struct dm *)ctx->objs[i];
	pthread_mutex_unlock(&sim_lock);
	return found;
}

enum { KNOWN_ACCESS = 0xff, REMOTE_CHANGES = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC };

static uint64_t pinned(void)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < MAX_MKEYS; i++)
		if (mkeys[i] && !mkeys[i]->window)
			sum += mkeys[i]->length;
	return sum;
}

/* How many bytes are registered, for tests of how much a program pins. */
EXPORT uint64_t mlx5sim_pinned(void)
{
	pthread_mutex_lock(&sim_lock);
	uint64_t sum = pinned();
	pthread_mutex_unlock(&sim_lock);
	return sum;
}

static uint64_t pin_limit = UINT64_MAX;

/* How many bytes may be registered by registrations of memory, as RLIMIT_MEMLOCK sets it. */
EXPORT void mlx5sim_pin_limit(uint64_t bytes)
{
	pthread_mutex_lock(&sim_lock);
	pin_limit = bytes;
	pthread_mutex_unlock(&sim_lock);
}

/* The kernel pins the pages, so they have to be there, and it writes to those that are writable. */
int pin(uint64_t start, uint64_t length, uint32_t access)
{
	uint64_t first = start & ~4095ull, end = (start + length + 4095) & ~4095ull;
	int write = access & (REMOTE_CHANGES | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	if (start + length < start)
		return EINVAL;
	return first < end && madvise((void *)first, end - first, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)
		? errno == ENOMEM ? EFAULT : errno : 0;
}

int check_access(uint32_t access)
{
	if (access & ~(uint32_t)(KNOWN_ACCESS | IBV_ACCESS_OPTIONAL_RANGE))
		return EINVAL;
	return access & REMOTE_CHANGES && !(access & IBV_ACCESS_LOCAL_WRITE) ? EINVAL : 0;
}

int reg_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_reg_mr *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct pd *pd = (struct pd *)sim_obj(ctx, req->pd_handle, O_PD);
	struct ib_uverbs_reg_mr_resp resp = {0};
	struct mr *mr;
	int error = check_access(req->access_flags);
	if (!pd || (req->start & 4095) != (req->hca_va & 4095))
		return EINVAL;
	if (!error && pin_limit != UINT64_MAX && pinned() + req->length > pin_limit)
		error = ENOMEM;
	if (!error && !(req->access_flags & IBV_ACCESS_ON_DEMAND))
		error = pin(req->start, req->length, req->access_flags);
	if (error)
		return error;
	mr = object_new(ctx, sizeof(*mr), O_MR);
	mr->mk = mkey_new(pd);
	mr->mk->access = req->access_flags;
	mr->mk->start = (char *)(uintptr_t)req->start;
	mr->mk->iova = req->access_flags & IBV_ACCESS_ZERO_BASED ? 0 : req->hca_va;
	mr->mk->length = req->length;
	resp.mr_handle = mr->o.handle;
	resp.lkey = resp.rkey = mr->mk->key;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}

int rereg_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_rereg_mr *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct mr *mr = (struct mr *)sim_obj(ctx, req->mr_handle, O_MR);
	struct ib_uverbs_rereg_mr_resp resp = {0};
	struct pd *pd = NULL;
	int error = 0;
	if (!mr || mr->dm)
		return EINVAL;
	if (req->flags & IBV_REREG_MR_CHANGE_PD && !(pd = (struct pd *)sim_obj(ctx, req->pd_handle, O_PD)))
		return EINVAL;
	if (req->flags & IBV_REREG_MR_CHANGE_ACCESS)
		error = check_access(req->access_flags);
	if (!error && req->flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		error = pin(req->start, req->length, req->access_flags);
	if (error)
		return error;
	if (pd) {
		mr->mk->pd->o.users--;
		mr->mk->pd = pd;
		pd->o.users++;
	}
	if (req->flags & IBV_REREG_MR_CHANGE_ACCESS)
		mr->mk->access = req->access_flags;
	if (req->flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->mk->start = (char *)(uintptr_t)req->start;
		mr->mk->iova = req->hca_va;
		mr->mk->length = req->length;
	}
	resp.lkey = resp.rkey = mr->mk->key;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}

int alloc_mw(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_alloc_mw *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct pd *pd = (struct pd *)sim_obj(ctx, req->pd_handle, O_PD);
	struct ib_uverbs_alloc_mw_resp resp = {0};
	struct mw *mw;
	if (!pd || (req->mw_type != IBV_MW_TYPE_1 && req->mw_type != IBV_MW_TYPE_2))
		return EINVAL;
	mw = object_new(ctx, sizeof(*mw), O_MW);
	mw->mk = mkey_new(pd);
	mw->mk->window = true;
	mw->mk->type2 = req->mw_type == IBV_MW_TYPE_2;
	mw->mk->free = true;
	resp.mw_handle = mw->o.handle;
	resp.rkey = mw->mk->key;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}

int alloc_dm(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	uint64_t length = attr_in_number(h, UVERBS_ATTR_ALLOC_DM_LENGTH);
	struct dm *dm;
	uint16_t page;
	if (attr_in_number(h, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE) != 0 || !length || length > DM_SIZE)
		return length > DM_SIZE ? ENOMEM : EOPNOTSUPP;
	dm = object_new(ctx, sizeof(*dm), O_DM);
	dm->length = (length + 63) & ~63ull;
	dm->memory = syscall(SYS_memfd_create, "mlx5 device memory", 0x1 /* close on exec */);
	syscall(SYS_ftruncate, dm->memory, DM_BYTES(dm));
	dm->mem = (void *)syscall(SYS_mmap, NULL, DM_BYTES(dm), PROT_READ | PROT_WRITE, MAP_SHARED, dm->memory, 0);
	page = dm->o.handle;
	attr_out_u64(h, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 0);
	attr_out(h, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &page, sizeof(page));
	attr_out_object(h, UVERBS_ATTR_ALLOC_DM_HANDLE, &dm->o);
	return 0;
}

/* Each context that uses device memory has a mapping of its own. */
void *dm_map(struct dm *dm)
{
	return (void *)syscall(SYS_mmap, NULL, DM_BYTES(dm), PROT_READ | PROT_WRITE, MAP_SHARED, dm->memory, 0);
}

void dm_free(struct dm *dm)
{
	syscall(SYS_munmap, dm->mem, DM_BYTES(dm));
	syscall(SYS_close, dm->memory);
}

int query_dm(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct dm *dm = (struct dm *)sim_obj(ctx, attr_in_number(h, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE), O_DM);
	uint16_t page;
	if (!dm)
		return EINVAL;
	page = dm->o.handle;
	attr_out_u64(h, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, 0);
	attr_out(h, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &page, sizeof(page));
	attr_out_u64(h, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, dm->length);
	return 0;
}

int reg_dm_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct dm *dm = (struct dm *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_REG_DM_MR_DM_HANDLE), O_DM);
	struct pd *pd = (struct pd *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_REG_DM_MR_PD_HANDLE), O_PD);
	uint64_t offset = attr_in_number(h, UVERBS_ATTR_REG_DM_MR_OFFSET), length = attr_in_number(h, UVERBS_ATTR_REG_DM_MR_LENGTH);
	uint32_t access = attr_in_number(h, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS);
	struct mr *mr;
	if (!dm || !pd || offset + length > dm->length || !(access & IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	mr = object_new(ctx, sizeof(*mr), O_MR);
	mr->mk = mkey_new(pd);
	mr->mk->access = access;
	mr->mk->start = dm->mem + offset;
	mr->mk->length = length;
	mr->dm = &dm->o;
	dm->o.users++;
	attr_out_object(h, UVERBS_ATTR_REG_DM_MR_HANDLE, &mr->o);
	attr_out_u32(h, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, mr->mk->key);
	attr_out_u32(h, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, mr->mk->key);
	return 0;
}

/* Memory of another device: here, any file that can be mapped. */
int reg_dma_buffer(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct pd *pd = (struct pd *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE), O_PD);
	uint64_t offset = attr_in_number(h, UVERBS_ATTR_REG_DMABUF_MR_OFFSET);
	uint64_t length = attr_in_number(h, UVERBS_ATTR_REG_DMABUF_MR_LENGTH), skipped = offset & 4095;
	uint64_t iova = attr_in_number(h, UVERBS_ATTR_REG_DMABUF_MR_IOVA);
	uint32_t access = attr_in_number(h, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS);
	int fd = attr_in_number(h, UVERBS_ATTR_REG_DMABUF_MR_FD), error = check_access(access);
	struct stat file;
	struct mr *mr;
	char *at;
	if (syscall(SYS_fstat, fd, &file))
		return EBADF;
	if (error || !pd || !length || (iova & 4095) != skipped || offset + length < offset
	    || offset + length > (uint64_t)file.st_size)
		return EINVAL;
	at = (char *)syscall(SYS_mmap, NULL, skipped + length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset - skipped);
	if (at == MAP_FAILED)
		return EINVAL;
	mr = object_new(ctx, sizeof(*mr), O_MR);
	mr->mapped = skipped + length;
	mr->mk = mkey_new(pd);
	mr->mk->access = access;
	mr->mk->start = at + skipped;
	mr->mk->iova = iova;
	mr->mk->length = length;
	attr_out_object(h, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, &mr->o);
	attr_out_u32(h, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr->mk->key);
	attr_out_u32(h, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr->mk->key);
	return 0;
}

void mr_unmap(struct mr *mr)
{
	if (mr->mapped)
		syscall(SYS_munmap, mr->mk->start - (mr->mk->iova & 4095), mr->mapped);
}

int query_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct mr *mr = (struct mr *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_QUERY_MR_HANDLE), O_MR);
	if (!mr)
		return EINVAL;
	attr_out_u32(h, UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr->mk->key);
	attr_out_u32(h, UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr->mk->key);
	attr_out_u64(h, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr->mk->length);
	attr_out_u64(h, UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr->mk->iova);
	return 0;
}
