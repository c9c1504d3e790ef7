/* Datagrams. */
#include "common/pair.h"

static void datagrams(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	struct ibv_qp *qp[2];
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 3}};
	struct ibv_ah *ah;
	ibv_query_gid(ctx, 1, 3, &to.grh.dgid);
	ah = ibv_create_ah(pd, &to);
	CHECK(ah);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD, .send_cq = cq, .recv_cq = cq,
			.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
		struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR};
		qp[i] = ibv_create_qp(pd, &init);
		CHECK(qp[i]);
		to_init(qp[i]);
		CHECK(!ibv_modify_qp(qp[i], &a, IBV_QP_STATE));
		a.qp_state = IBV_QPS_RTS;
		CHECK(!ibv_modify_qp(qp[i], &a, IBV_QP_STATE | IBV_QP_SQ_PSN));
	}
	post_recv(qp[1], 8, buf + HALF, 140);
	fill(buf, 100, 5);
	struct ibv_sge s = {(uintptr_t)buf, 100, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = &s, .num_sge = 1,
		.wr.ud = {.ah = ah, .remote_qpn = qp[1]->qp_num, .remote_qkey = 17}}, *bad;
	CHECK(!ibv_post_send(qp[0], &wr, &bad));
	struct ibv_wc wc = wait_one(cq);
	CHECK(wc.wr_id == 8 && wc.byte_len == 140 && wc.wc_flags & IBV_WC_GRH && wc.src_qp == qp[0]->qp_num);
	CHECK(!memcmp(buf, buf + HALF + 40, 100));
	CHECK(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]) && !ibv_destroy_ah(ah) && !ibv_destroy_cq(cq));
}

int main(void)
{
	open_device();
	RUN(datagrams());
	close_device();
	return result();
}
