/* Functions that the tests of the inlines for memory call, and functions that they compare with. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "stand_in.h"

extern uint64_t arguments[6];

#define RECORD(...)                                                                                \
	do {                                                                                       \
		uint64_t recorded[6] = {__VA_ARGS__};                                              \
		memcpy(arguments, recorded, sizeof(arguments));                                    \
	} while (0)
#define POINTER(argument) ((uintptr_t)(argument))

void *reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	RECORD(POINTER(pd), offset, length, iova, fd, access);
	errno = 1011;
	return pd;
}

int rereg_mr(void *mr, int flags, void *pd, void *addr, size_t length, int access)
{
	RECORD(POINTER(mr), flags, POINTER(pd), POINTER(addr), length, access);
	errno = 1012;
	return IBV_REREG_MR_ERR_CMD;
}

void *alloc_buf(void *pd, size_t size, void **buf)
{
	RECORD(POINTER(pd), size, POINTER(buf));
	errno = 1017;
	return pd;
}

void *reg_buf_mr(void *pd, void *buf, void *addr, size_t length, int access)
{
	RECORD(POINTER(pd), POINTER(buf), POINTER(addr), length, access);
	errno = 1018;
	return addr;
}

static struct ibv_mw *record_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	RECORD(POINTER(pd), type, 1);
	errno = 1013;
	return (void *)pd;
}

static int record_dealloc_mw(struct ibv_mw *mw)
{
	RECORD(POINTER(mw), 2);
	return EBUSY;
}

static int record_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	RECORD(POINTER(qp), POINTER(mw), POINTER(bind), 3);
	return ENOMEM;
}

static int record_advise_mr(struct ibv_pd *pd, enum ib_uverbs_advise_mr_advice advice,
			    uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge)
{
	RECORD(POINTER(pd), advice, flags, POINTER(sg_list), num_sge, 4);
	return EFAULT;
}

static struct ibv_mr *record_alloc_null_mr(struct ibv_pd *pd)
{
	RECORD(POINTER(pd), 5);
	errno = 1014;
	return (void *)pd;
}

static struct ibv_dm *record_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	RECORD(POINTER(context), POINTER(attr), 6);
	errno = 1015;
	return (void *)attr;
}

static int record_free_dm(struct ibv_dm *dm)
{
	RECORD(POINTER(dm), 7);
	return EIO;
}

static int record_memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *host, size_t length)
{
	RECORD(POINTER(dm), offset, POINTER(host), length, 8);
	return ERANGE;
}

static int record_memcpy_from_dm(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	RECORD(POINTER(host), POINTER(dm), offset, length, 9);
	return ENOSPC;
}

static struct ibv_mr *record_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				       size_t length, unsigned int access)
{
	RECORD(POINTER(pd), POINTER(dm), offset, length, access, 10);
	errno = 1016;
	return (void *)dm;
}

/* Makes a context that has every operation for memory. */
void set_memory_ops(struct ibv_context *context)
{
	struct verbs_context *extended = extended_of(context);

	extended->sz = sizeof(*extended);
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	extended->context.ops.alloc_mw = record_alloc_mw;
	extended->context.ops.dealloc_mw = record_dealloc_mw;
	extended->context.ops.bind_mw = record_bind_mw;
	extended->advise_mr = record_advise_mr;
	extended->alloc_null_mr = record_alloc_null_mr;
	extended->alloc_dm = record_alloc_dm;
	extended->free_dm = record_free_dm;
	extended->reg_dm_mr = record_reg_dm_mr;
}

/* Makes a context that has none of them. */
void set_no_memory_ops(struct ibv_context *context)
{
	struct verbs_context *extended = extended_of(context);

	memset(extended, 0, sizeof(*extended));
	extended->sz = sizeof(*extended);
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

void set_dm(struct ibv_dm *dm, struct ibv_context *context)
{
	dm->context = context;
	dm->memcpy_to_dm = record_memcpy_to_dm;
	dm->memcpy_from_dm = record_memcpy_from_dm;
}

void set_pd(struct ibv_pd *pd, struct ibv_context *context)
{
	pd->context = context;
}

void set_mr(struct ibv_mr *mr, struct ibv_pd *pd)
{
	mr->pd = pd;
}

void set_mw(struct ibv_mw *mw, struct ibv_context *context, struct ibv_pd *pd, int type)
{
	mw->context = context;
	mw->pd = pd;
	mw->type = type;
}

void set_bind(struct ibv_mw_bind *bind, struct ibv_mr *mr, uint64_t addr, uint64_t length)
{
	bind->bind_info.mr = mr;
	bind->bind_info.addr = addr;
	bind->bind_info.length = length;
}

void *call_alloc_mw(struct ibv_pd *pd, int type)
{
	return ibv_alloc_mw(pd, type);
}

int call_dealloc_mw(struct ibv_mw *mw)
{
	return ibv_dealloc_mw(mw);
}

int call_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	return ibv_bind_mw(qp, mw, bind);
}

int call_advise_mr(struct ibv_pd *pd, int advice, uint32_t flags, struct ibv_sge *sges, uint32_t n)
{
	return ibv_advise_mr(pd, advice, flags, sges, n);
}

void *call_alloc_null_mr(struct ibv_pd *pd)
{
	return ibv_alloc_null_mr(pd);
}

void *call_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	return ibv_alloc_dm(context, attr);
}

int call_free_dm(struct ibv_dm *dm)
{
	return ibv_free_dm(dm);
}

int call_memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, void *host, size_t length)
{
	return ibv_memcpy_to_dm(dm, offset, host, length);
}

int call_memcpy_from_dm(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	return ibv_memcpy_from_dm(host, dm, offset, length);
}

void *call_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
		     unsigned int access)
{
	return ibv_reg_dm_mr(pd, dm, offset, length, access);
}
