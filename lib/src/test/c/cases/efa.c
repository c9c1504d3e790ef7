/* Queue pairs of SRD, their requests, and completions with the address of the sender. */
#include "standin.h"
#include <arpa/inet.h>
#include <infiniband/efadv.h>

void create_reliable_datagrams(void)
{
	struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.recv_cq = latest.cq,
		.cap = {.max_send_wr = 101, .max_recv_wr = 102, .max_send_sge = 3, .max_recv_sge = 4, .max_inline_data = 105},
		.qp_type = IBV_QPT_DRIVER,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = latest.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
	};
	efadv_create_qp_ex(latest.context, &attr, &srd, sizeof srd);
}

void start_reliable_datagrams(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .pkey_index = 0, .port_num = 1, .qkey = 0x80010000};
	ibv_modify_qp(latest.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR};
	ibv_modify_qp(latest.qp, &attr, IBV_QP_STATE);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .rnr_retry = 5, .sq_psn = 0xfedcba};
	ibv_modify_qp(latest.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY);
}

void wr_reliable_datagrams(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(latest.qp);
	uint64_t at = (uintptr_t)latest.mr->addr;
	struct ibv_sge two[2] = {{at + 16, 32, latest.mr->lkey}, {at + 100, 0xff, latest.mr->lkey}};
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, latest.ah, 0xabcdef, 0x80010000);
	ibv_wr_set_sge_list(qp, 2, two);
	qp->wr_id = 2;
	ibv_wr_rdma_read(qp, 0x81828384, 0xf1f2f3f4f5f6f7f8);
	ibv_wr_set_ud_addr(qp, latest.ah, 0xabcdee, 0x80010001);
	ibv_wr_set_sge(qp, latest.mr->lkey, at + 8, 8);
	qp->wr_id = 3;
	ibv_wr_rdma_write(qp, 0x81828385, 0xf1f2f3f4f5f6f7f9);
	ibv_wr_set_ud_addr(qp, latest.ah, 0xabcded, 0x80010002);
	ibv_wr_set_sge(qp, latest.mr->lkey, at + 8, 8);
	qp->wr_id = 4;
	ibv_wr_rdma_write_imm(qp, 0x81828386, 0xf1f2f3f4f5f6f7fa, htonl(0x91929394));
	ibv_wr_set_ud_addr(qp, latest.ah, 0xabcdec, 0x80010003);
	ibv_wr_set_sge(qp, latest.mr->lkey, at + 8, 8);
	qp->wr_id = 5;
	qp->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	ibv_wr_send_imm(qp, htonl(0x91929394));
	ibv_wr_set_ud_addr(qp, latest.ah, 0xabcdeb, 0x80010004);
	ibv_wr_set_inline_data(qp, (void *)(uintptr_t)(at + 8), 8);
	ibv_wr_complete(qp);
}

void create_queue_with_senders(void)
{
	struct efadv_cq_init_attr efa = {.wc_flags = EFADV_WC_EX_WITH_SGID};
	struct ibv_cq_init_attr_ex attr = {.cqe = 1004, .wc_flags = IBV_WC_EX_WITH_SLID};
	efadv_create_cq(latest.context, &attr, &efa, sizeof efa);
}

void query_address_handle(void)
{
	struct efadv_ah_attr attr;
	efadv_query_ah(latest.ah, &attr, sizeof attr);
}
