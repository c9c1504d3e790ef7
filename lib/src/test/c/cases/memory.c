/* Memory regions, device memory, and what C can say about memory. */
#include "newer.h"

#define BIG 0x123456789a

void register_memory(void)
{
	ibv_reg_mr(latest.pd, latest.mr->addr, 5000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

/* The flags that old kernels do not know go another way. */
void register_with_every_flag(void)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_RELAXED_ORDERING;
	ibv_reg_mr(latest.pd, latest.mr->addr, 5000, access);
}

void register_to_be_flushed(void)
{
	ibv_reg_mr(latest.pd, latest.mr->addr, 5000,
		   IBV_ACCESS_REMOTE_READ | NEWER_ACCESS_FLUSH_GLOBAL | NEWER_ACCESS_FLUSH_PERSISTENT);
}

void register_at_another_address(void)
{
	ibv_reg_mr_iova(latest.pd, latest.mr->addr, 4096, 0xfedcba9876543000, IBV_ACCESS_REMOTE_READ);
}

void register_a_dma_buffer(void)
{
	ibv_reg_dmabuf_mr(latest.pd, BIG, BIG + 1, 0xf1f2f3f4f5f6f89a, 0x7fff,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

void register_a_dma_buffer_at_its_offset(void)
{
	ibv_reg_dmabuf_mr(latest.pd, BIG, 4096, BIG, 0x7fff, 0);
}

void allocate_a_null_region(void)
{
	ibv_alloc_null_mr(latest.pd);
}

void register_all_memory(void)
{
	ibv_reg_mr(latest.pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND);
}

void deregister_all_memory(void)
{
	ibv_dereg_mr(latest.mr);
}

void import_a_region(void)
{
	ibv_import_mr(latest.pd, 0xf1f2f3f4);
}

void unimport_the_region(void)
{
	ibv_unimport_mr(latest.mr);
}

void import_a_domain(void)
{
	ibv_import_pd(latest.context, 0xf1f2f3f4);
}

void unimport_the_domain(void)
{
	ibv_unimport_pd(latest.pd);
}

void import_device_memory(void)
{
	ibv_import_dm(latest.context, 0xf1f2f3f4);
}

void unimport_device_memory(void)
{
	ibv_unimport_dm(latest.dm);
}

void allocate_device_memory(void)
{
	struct ibv_alloc_dm_attr attr = {.length = BIG, .log_align_req = 12};
	ibv_alloc_dm(latest.context, &attr);
}

void use_device_memory(void)
{
	char read[16];
	ibv_memcpy_to_dm(latest.dm, BIG - 24, "sixteen bytes...", 16);
	ibv_memcpy_from_dm(read, latest.dm, BIG - 24, sizeof read);
	ibv_reg_dm_mr(latest.pd, latest.dm, BIG - 4096, 4095,
		      IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

void free_device_memory(void)
{
	ibv_free_dm(latest.dm);
}

void advise(void)
{
	struct ibv_sge parts[] = {
		{.addr = (uintptr_t)latest.mr->addr + 1, .length = 2, .lkey = latest.mr->lkey},
		{.addr = (uintptr_t)latest.mr->addr + 3, .length = 4000, .lkey = latest.mr->lkey},
	};
	ibv_advise_mr(latest.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, IBV_ADVISE_MR_FLAG_FLUSH, parts, 2);
}

/* Of the latest region, which is in another domain than the latest one. */
void reregister_everything(void)
{
	ibv_rereg_mr(latest.mr,
		     IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS, latest.pd,
		     latest.mr->addr, 8192, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

void reregister_access(void)
{
	ibv_rereg_mr(latest.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_READ);
}

void read_handles(void)
{
	CALLED();
	number("lkey", latest.mr->lkey);
	number("rkey", latest.mr->rkey);
	number("length", latest.mr->length);
	number("addr", (uintptr_t)latest.mr->addr);
	number("mr", latest.mr->handle);
	number("pd", latest.pd->handle);
	number("dm", latest.dm->handle);
	number("mw", latest.mw->rkey);
}

void deregister(void)
{
	ibv_dereg_mr(latest.mr);
}

void allocate_windows(void)
{
	ibv_alloc_mw(latest.pd, IBV_MW_TYPE_1);
	ibv_alloc_mw(latest.pd, IBV_MW_TYPE_2);
}

void deallocate_the_window(void)
{
	ibv_dealloc_mw(latest.mw);
}
