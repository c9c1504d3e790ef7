/* What rdma-core 44 does not have: DMA handles, exported device memory, and completion counters. */
#include "newer.h"

void query_the_speed_of_port(int port_num)
{
	uint64_t speed;
	ibv_query_port_speed(latest.context, port_num, &speed);
	number("speed", speed * 100);
}

void allocate_dma_handles(void)
{
	struct newer_dmah_init_attr nothing = {0};
	struct newer_dmah_init_attr everything = {
		.comp_mask = NEWER_DMAH_MASK_CPU_ID | NEWER_DMAH_MASK_PH | NEWER_DMAH_MASK_TPH_MEM_TYPE,
		.cpu_id = 0x71727374,
		.ph = 3,
		.tph_mem_type = NEWER_TPH_MEM_TYPE_PM,
	};
	struct newer_dmah_init_attr is_volatile = {.comp_mask = NEWER_DMAH_MASK_TPH_MEM_TYPE};
	ibv_alloc_dmah(latest.context, (void *)&nothing);
	ibv_alloc_dmah(latest.context, (void *)&everything);
	ibv_alloc_dmah(latest.context, (void *)&is_volatile);
}

void deallocate_the_dma_handle(void)
{
	ibv_dealloc_dmah(latest_dmah);
}

void register_with_a_dma_handle(void)
{
	struct newer_mr_init_attr attr = {
		.length = 5000,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
		.comp_mask = NEWER_REG_MR_MASK_ADDR | NEWER_REG_MR_MASK_DMAH,
		.addr = latest.mr->addr,
		.dmah = latest_dmah,
	};
	ibv_reg_mr_ex(latest.pd, (void *)&attr);
}

void register_with_a_dma_handle_at_another_address(void)
{
	struct newer_mr_init_attr attr = {
		.length = 4096,
		.access = IBV_ACCESS_REMOTE_READ,
		.comp_mask = NEWER_REG_MR_MASK_ADDR | NEWER_REG_MR_MASK_DMAH | NEWER_REG_MR_MASK_IOVA,
		.iova = 0xfedcba9876543000,
		.addr = latest.mr->addr,
		.dmah = latest_dmah,
	};
	ibv_reg_mr_ex(latest.pd, (void *)&attr);
}

void register_a_dma_buffer_with_a_dma_handle(void)
{
	struct newer_mr_init_attr attr = {
		.length = 5000,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = NEWER_REG_MR_MASK_IOVA | NEWER_REG_MR_MASK_FD | NEWER_REG_MR_MASK_FD_OFFSET |
			     NEWER_REG_MR_MASK_DMAH,
		.iova = 0xfedcba9876543100,
		.fd = 0x7fff,
		.fd_offset = 0x100,
		.dmah = latest_dmah,
	};
	ibv_reg_mr_ex(latest.pd, (void *)&attr);
}

void close_the_dma_handle_of_a_region(void)
{
	ibv_dereg_mr(latest.mr);
	ibv_dealloc_dmah(latest_dmah);
}

void export_device_memory(void)
{
	ibv_dm_export_dmabuf_fd(latest.dm);
}

void read_capabilities_of_completion_counters(void)
{
	struct newer_comp_cntr_caps caps = {0};
	_ibv_query_comp_cntr_caps(latest.context, (void *)&caps, sizeof caps);
	CALLED();
	NUMBER(caps.max_value);
	NUMBER(caps.max_counters);
	NUMBER(caps.supported_qp_attach_ops);
}

void create_completion_counters(void)
{
	struct newer_comp_cntr_init_attr of_requests = {0};
	struct newer_comp_cntr_init_attr of_bytes = {.type = NEWER_COMP_CNTR_TYPE_BYTES};
	ibv_create_comp_cntr(latest.context, (void *)&of_requests);
	ibv_create_comp_cntr(latest.context, (void *)&of_bytes);
}

void use_the_completion_counter(void)
{
	struct newer_qp_attach_comp_cntr_attr attr = {
		.op_mask = NEWER_COMP_CNTR_OP_SEND | NEWER_COMP_CNTR_OP_REMOTE_RDMA_WRITE,
	};
	uint64_t value;
	ibv_set_comp_cntr(latest_comp_cntr, 0xf1f2f3f4f5f6f7f8);
	ibv_set_err_comp_cntr(latest_comp_cntr, 0xe1e2e3e4e5e6e7e8);
	ibv_inc_comp_cntr(latest_comp_cntr, 0xd1d2d3d4d5d6d7d8);
	ibv_inc_err_comp_cntr(latest_comp_cntr, 0xc1c2c3c4c5c6c7c8);
	ibv_qp_attach_comp_cntr(latest.qp, latest_comp_cntr, (void *)&attr);
	ibv_read_comp_cntr(latest_comp_cntr, &value);
	number("completed", value);
	ibv_read_err_comp_cntr(latest_comp_cntr, &value);
	number("failed", value);
}

void destroy_the_completion_counter(void)
{
	ibv_destroy_qp(latest.qp);
	ibv_destroy_comp_cntr(latest_comp_cntr);
}

void query_data_in_order(void)
{
	ibv_query_qp_data_in_order(latest.qp, IBV_WR_RDMA_WRITE, NEWER_DATA_IN_ORDER_RETURN_CAPS);
	ibv_query_qp_data_in_order(latest.qp, IBV_WR_SEND,
				   NEWER_DATA_IN_ORDER_RETURN_CAPS | NEWER_DATA_IN_ORDER_DEVICE_ONLY);
}
