/* Datagrams and reliable datagrams (SRD) of EFA, through unmodified libefa. */
#include "common/pair.h"
#include <infiniband/efadv.h>
#include <stdbool.h>
#include <time.h>

enum { QKEY = 17, HEADER = 40 };
enum { CAPS_RDMA_WRITE = 1 << 3 }; /* newer than the header of rdma-core 44, whose libefa has no writes */

struct side { struct ibv_cq_ex *cq; struct ibv_qp *qp; };

static struct side sides[2];
static struct ibv_ah *ah;
static bool has_writes;

static struct ibv_qp *create_qp(bool reliable, struct ibv_cq_ex *cq)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = reliable ? IBV_QPT_DRIVER : IBV_QPT_UD, .pd = pd, .sq_sig_all = 1,
		.send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq),
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | (reliable ? IBV_QP_EX_WITH_RDMA_READ : 0)
			| (reliable && has_writes ? IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM : 0),
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 32}};
	struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .rnr_retry = 1};
	struct ibv_qp *qp = reliable ? efadv_create_qp_ex(ctx, &init, &srd, sizeof(srd)) : ibv_create_qp_ex(ctx, &init);
	CHECK(qp);
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	a.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE));
	a.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | (reliable ? IBV_QP_RNR_RETRY : 0)));
	return qp;
}

static void create(bool reliable)
{
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1};
	ibv_query_gid(ctx, 1, 0, &to.grh.dgid);
	ah = ibv_create_ah(pd, &to);
	CHECK(ah);
	for (int i = 0; i < 2; i++) {
		struct ibv_cq_init_attr_ex ci = {.cqe = 32, .wc_flags = IBV_WC_STANDARD_FLAGS};
		sides[i].cq = ibv_create_cq_ex(ctx, &ci);
		CHECK(sides[i].cq);
		sides[i].qp = create_qp(reliable, sides[i].cq);
	}
}

static void destroy(void)
{
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_destroy_qp(sides[i].qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(sides[i].cq)));
	CHECK(!ibv_destroy_ah(ah));
}

static struct { uint64_t id; int status, opcode, flags; uint32_t length, source, imm; } done;

static void next(struct side *s, uint64_t id, int status)
{
	struct ibv_poll_cq_attr none = {0};
	time_t end = time(NULL) + 5;
	int error;
	while ((error = ibv_start_poll(s->cq, &none)) == ENOENT && time(NULL) < end)
		;
	CHECK(!error);
	if (error)
		exit(result());
	done.id = s->cq->wr_id;
	done.status = s->cq->status;
	done.opcode = ibv_wc_read_opcode(s->cq);
	done.flags = ibv_wc_read_wc_flags(s->cq);
	done.length = ibv_wc_read_byte_len(s->cq);
	done.source = ibv_wc_read_src_qp(s->cq);
	done.imm = be32toh(ibv_wc_read_imm_data(s->cq));
	ibv_end_poll(s->cq);
	if (done.id != id || done.status != status)
		printf("id %lu, status %d instead of id %lu, status %d\n", (long)done.id, done.status, (long)id, status);
	CHECK(done.id == id && done.status == status);
}

static struct ibv_qp_ex *start(uint64_t id)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(sides[0].qp);
	ibv_wr_start(x);
	x->wr_id = id;
	x->wr_flags = IBV_SEND_SIGNALED;
	return x;
}

static int finish(struct ibv_qp_ex *x, int length, bool is_inline)
{
	if (is_inline)
		ibv_wr_set_inline_data(x, buf, length);
	else
		ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf, length);
	ibv_wr_set_ud_addr(x, ah, sides[1].qp->qp_num, QKEY);
	return ibv_wr_complete(x);
}

static void messages(bool reliable)
{
	int offset = reliable ? 0 : HEADER;
	create(reliable);
	for (int i = 0; i < 100; i++) { /* all queues wrap */
		int length = i % 3 ? i * 20 + 1 : i % 32;
		struct ibv_qp_ex *x;
		post_recv(sides[1].qp, 100 + i, buf + HALF, 4096);
		fill(buf, length, i);
		x = start(i);
		if (i & 1)
			ibv_wr_send_imm(x, htobe32(i));
		else
			ibv_wr_send(x);
		CHECK(!finish(x, length, i % 3 == 0));
		next(&sides[1], 100 + i, IBV_WC_SUCCESS);
		CHECK(done.opcode == IBV_WC_RECV && done.length == (uint32_t)(length + offset) && done.source == sides[0].qp->qp_num);
		CHECK(!memcmp(buf + HALF + offset, buf, length));
		CHECK(!!(done.flags & IBV_WC_WITH_IMM) == (i & 1) && (!(i & 1) || done.imm == (uint32_t)i));
		next(&sides[0], i, IBV_WC_SUCCESS);
		CHECK(done.opcode == IBV_WC_SEND);
	}
	destroy();
}

static void plain_posts(void)
{
	struct ibv_sge s = {(uintptr_t)buf, 100, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 5, .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED},
		*bad = NULL;
	struct ibv_qp *qp;
	struct ibv_cq *cq = ibv_create_cq(ctx, 20, NULL, NULL, 0);
	create(false);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = sides[1].qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	qp = sides[0].qp;
	post_recv(sides[1].qp, 7, buf + HALF, 200);
	fill(buf, 100, 3);
	CHECK(!ibv_post_send(qp, &wr, &bad));
	next(&sides[1], 7, IBV_WC_SUCCESS);
	CHECK(!memcmp(buf + HALF + HEADER, buf, 100));
	next(&sides[0], 5, IBV_WC_SUCCESS);
	CHECK(cq && !ibv_destroy_cq(cq));
	destroy();
}

static void reads(void)
{
	struct ibv_qp_ex *x;
	create(true);
	fill(buf + HALF, 1000, 9);
	memset(buf, 0, 1000);
	x = start(3);
	ibv_wr_rdma_read(x, mr->rkey, (uintptr_t)buf + HALF);
	CHECK(!finish(x, 1000, false));
	next(&sides[0], 3, IBV_WC_SUCCESS);
	CHECK(!memcmp(buf, buf + HALF, 1000));
	x = start(4);
	ibv_wr_rdma_read(x, mr->rkey + 1, (uintptr_t)buf + HALF);
	CHECK(!finish(x, 1000, false));
	next(&sides[0], 4, has_writes ? IBV_WC_REM_ACCESS_ERR : IBV_WC_GENERAL_ERR);
	destroy();
}

static void writes(void)
{
	struct ibv_qp_ex *x;
	create(true);
	fill(buf, 70000, 5);
	memset(buf + HALF, 0, 70000);
	x = start(5);
	ibv_wr_rdma_write(x, mr->rkey, (uintptr_t)buf + HALF);
	CHECK(!finish(x, 70000, false));
	next(&sides[0], 5, IBV_WC_SUCCESS);
	CHECK(done.opcode == IBV_WC_RDMA_WRITE && !memcmp(buf, buf + HALF, 70000));
	x = start(6);
	ibv_wr_rdma_write_imm(x, mr->rkey, (uintptr_t)buf + HALF, htobe32(77));
	CHECK(!finish(x, 70000, false));
	next(&sides[0], 6, IBV_WC_RNR_RETRY_EXC_ERR);
	post_recv(sides[1].qp, 7, buf, 4);
	x = start(8);
	ibv_wr_rdma_write_imm(x, mr->rkey, (uintptr_t)buf + HALF, htobe32(78));
	CHECK(!finish(x, 70000, false));
	next(&sides[1], 7, IBV_WC_SUCCESS);
	CHECK(done.opcode == IBV_WC_RECV_RDMA_WITH_IMM && done.imm == 78 && done.length == 70000);
	next(&sides[0], 8, IBV_WC_SUCCESS);
	destroy();
}

/* A queue pair of a domain without address handles: it gets the addresses of senders, which cannot read there. */
static void unknown_senders(void)
{
	struct efadv_cq_init_attr with_sgid = {.wc_flags = EFADV_WC_EX_WITH_SGID};
	struct ibv_cq_init_attr_ex ci = {.cqe = 32, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_pd *known = pd, *stranger = ibv_alloc_pd(ctx);
	struct ibv_mr *memory = ibv_reg_mr(stranger, buf + HALF, 100, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	struct ibv_sge s = {(uintptr_t)buf + HALF, 100, memory->lkey};
	struct ibv_recv_wr wr = {.wr_id = 2, .sg_list = &s, .num_sge = 1}, *bad;
	struct side before;
	struct ibv_poll_cq_attr none = {0};
	union ibv_gid gid = {0}, mine;
	struct ibv_qp_ex *x;
	create(true);
	before = sides[1];
	sides[1].cq = efadv_create_cq(ctx, &ci, &with_sgid, sizeof(with_sgid));
	CHECK(sides[1].cq);
	pd = stranger;
	sides[1].qp = create_qp(true, sides[1].cq);
	pd = known;
	CHECK(!ibv_post_recv(sides[1].qp, &wr, &bad));
	x = start(1);
	ibv_wr_send(x);
	CHECK(!finish(x, 8, false));
	next(&sides[0], 1, IBV_WC_SUCCESS);
	while (ibv_start_poll(sides[1].cq, &none) == ENOENT)
		;
	CHECK(sides[1].cq->wr_id == 2 && ibv_wc_read_slid(sides[1].cq) == 0xffff);
	CHECK(!efadv_wc_read_sgid(efadv_cq_from_ibv_cq_ex(sides[1].cq), &gid));
	ibv_end_poll(sides[1].cq);
	ibv_query_gid(ctx, 1, 0, &mine);
	CHECK(!memcmp(&gid, &mine, sizeof(gid)));
	x = start(3);
	ibv_wr_rdma_read(x, memory->rkey, (uintptr_t)buf + HALF);
	CHECK(!finish(x, 8, false));
	next(&sides[0], 3, has_writes ? IBV_WC_REM_OP_ERR : IBV_WC_GENERAL_ERR);
	CHECK(!ibv_destroy_qp(sides[1].qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(sides[1].cq)));
	CHECK(!ibv_dereg_mr(memory) && !ibv_dealloc_pd(stranger));
	sides[1] = before;
	destroy();
}

static void failures_of_sends(void)
{
	struct ibv_qp_ex *x;
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	create(true);
	x = start(1);
	ibv_wr_send(x);
	CHECK(!finish(x, 8, false));
	next(&sides[0], 1, IBV_WC_RNR_RETRY_EXC_ERR);
	post_recv(sides[1].qp, 2, buf + HALF, 4);
	x = start(2);
	ibv_wr_send(x);
	CHECK(!finish(x, 8, false));
	next(&sides[0], 2, IBV_WC_REM_INV_REQ_ERR);
	next(&sides[1], 2, IBV_WC_LOC_LEN_ERR);
	post_recv(sides[1].qp, 3, buf + HALF, 4);
	CHECK(!ibv_modify_qp(sides[1].qp, &error, IBV_QP_STATE));
	next(&sides[1], 3, IBV_WC_WR_FLUSH_ERR);
	x = start(4);
	ibv_wr_send(x);
	CHECK(!finish(x, 8, false));
	next(&sides[0], 4, IBV_WC_REM_INV_RD_REQ_ERR);
	destroy();
}

int main(void)
{
	void (*efa)(bool) = simulation("mlx5sim_efa");
	struct efadv_device_attr attr;
	efa(true);
	open_device();
	CHECK(!strcmp(ibv_get_device_name(ctx->device), "efa_0"));
	CHECK(!efadv_query_device(ctx, &attr, sizeof(attr)) && attr.max_sq_sge == 2
		&& attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ);
	RUN(messages(false));
	RUN(messages(true));
	RUN(plain_posts());
	has_writes = attr.device_caps & CAPS_RDMA_WRITE;
	RUN(reads());
	if (has_writes)
		RUN(writes());
	RUN(unknown_senders());
	RUN(failures_of_sends());
	close_device();
	efa(false);
	open_device();
	CHECK(!strcmp(ibv_get_device_name(ctx->device), "mlx5_0"));
	close_device();
	return result();
}
