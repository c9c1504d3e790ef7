/* Domains, shared receive queues, work queues and tables. */
#include "standin.h"
#include <fcntl.h>

void allocate_a_domain(void)
{
	ibv_alloc_pd(latest.context);
}

void deallocate_the_domain(void)
{
	ibv_dealloc_pd(latest.pd);
}

void allocate_a_thread_domain(void)
{
	struct ibv_td_init_attr attr = {0};
	ibv_alloc_td(latest.context, &attr);
}

void allocate_a_parent_domain_with_threads(void)
{
	struct ibv_parent_domain_init_attr parent = {.pd = latest.pd, .td = latest.td};
	ibv_alloc_parent_domain(latest.context, &parent);
}

/* The thread domain must not be deallocated before the parent domain that uses it. */
void deallocate_the_thread_domain(void)
{
	ibv_dealloc_pd(latest.parent);
	ibv_dealloc_td(latest.td);
}

void allocate_a_parent_domain(void)
{
	struct ibv_parent_domain_init_attr parent = {.pd = latest.pd};
	ibv_alloc_parent_domain(latest.context, &parent);
}

void open_an_xrc_domain(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	ibv_open_xrcd(latest.context, &attr);
}

void close_the_xrc_domain(void)
{
	ibv_close_xrcd(latest.xrcd);
}

static void share_an_xrc_domain(int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = 5,
		.oflags = oflags,
	};
	ibv_open_xrcd(latest.context, &attr);
}

void share_xrc_domains(void)
{
	share_an_xrc_domain(O_CREAT);
	share_an_xrc_domain(0);
}

void create_shared_receive_queue(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 1001, .max_sge = 7},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = latest.pd,
	};
	ibv_create_srq_ex(latest.context, &attr);
}

void create_xrc_receive_queue(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 102, .max_sge = 8},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_XRCD,
		.srq_type = IBV_SRQT_XRC,
		.pd = latest.pd,
		.xrcd = latest.xrcd,
		.cq = latest.cq,
	};
	ibv_create_srq_ex(latest.context, &attr);
}

void create_tag_matching_queue(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 100, .max_sge = 9},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = latest.pd,
		.cq = latest.cq,
		.tm_cap = {.max_num_tags = 404, .max_ops = 105},
	};
	ibv_create_srq_ex(latest.context, &attr);
}

void change_shared_receive_queue(void)
{
	struct ibv_srq_attr attr = {.max_wr = 77, .srq_limit = 66};
	ibv_modify_srq(latest.srq, &attr, IBV_SRQ_LIMIT);
	ibv_modify_srq(latest.srq, &attr, IBV_SRQ_MAX_WR);
	ibv_destroy_srq(latest.srq);
}

void create_work_queue(void)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 201,
		.max_sge = 7,
		.pd = latest.pd,
		.cq = latest.cq,
		.comp_mask = IBV_WQ_INIT_ATTR_FLAGS,
		.create_flags = IBV_WQ_FLAGS_CVLAN_STRIPPING | IBV_WQ_FLAGS_SCATTER_FCS | IBV_WQ_FLAGS_DELAY_DROP |
				IBV_WQ_FLAGS_PCI_WRITE_END_PADDING,
	};
	ibv_create_wq(latest.context, &attr);
}

void change_work_queue(void)
{
	struct ibv_wq_attr state = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	struct ibv_wq_attr flags = {
		.attr_mask = IBV_WQ_ATTR_FLAGS,
		.wq_state = IBV_WQS_UNKNOWN,
		.flags = IBV_WQ_FLAGS_DELAY_DROP,
		.flags_mask = IBV_WQ_FLAGS_DELAY_DROP | IBV_WQ_FLAGS_CVLAN_STRIPPING,
	};
	ibv_modify_wq(latest.wq, &state);
	ibv_modify_wq(latest.wq, &flags);
}

void create_table(void)
{
	struct ibv_wq *queues[] = {latest.wq, latest.wq, latest.wq, latest.wq};
	struct ibv_rwq_ind_table_init_attr attr = {.log_ind_tbl_size = 2, .ind_tbl = queues};
	ibv_create_rwq_ind_table(latest.context, &attr);
}

void destroy_table_and_work_queue(void)
{
	ibv_destroy_rwq_ind_table(latest.table);
	ibv_destroy_wq(latest.wq);
}

void close_the_device(void)
{
	ibv_destroy_qp(latest.qp);
	ibv_destroy_cq(latest.cq);
	ibv_destroy_comp_channel(latest.channel);
	ibv_dealloc_pd(latest.pd);
	ibv_close_device(latest.context);
}
