/* Tag matching: messages that go to buffers by their tags, on a port of InfiniBand. */
#include "common/pair.h"
#include <infiniband/tm_types.h>
#include <stdbool.h>
#include <time.h>

enum { MAX_TAGS = 8, MTU = 1024, HEADER = sizeof(struct ibv_tmh) };

static struct ibv_cq *sent;
static struct ibv_cq_ex *received;
static struct ibv_srq *srq;
static struct ibv_qp *sender, *receiver;

static void create(void)
{
	struct ibv_cq_init_attr_ex ci = {.cqe = 100, .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO};
	struct ibv_srq_init_attr_ex si = {.attr = {.max_wr = 16, .max_sge = 1}, .srq_type = IBV_SRQT_TM, .pd = pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.tm_cap = {.max_num_tags = MAX_TAGS, .max_ops = 8}};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 8, .max_send_sge = 2}};
	sent = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	received = ibv_create_cq_ex(ctx, &ci);
	si.cq = ibv_cq_ex_to_cq(received);
	srq = ibv_create_srq_ex(ctx, &si);
	CHECK(sent && received && srq);
	init.send_cq = init.recv_cq = sent;
	sender = ibv_create_qp(pd, &init);
	init.srq = srq;
	receiver = ibv_create_qp(pd, &init);
	CHECK(sender && receiver);
	to_init(sender);
	to_init(receiver);
	connect_to(sender, receiver->qp_num, 0);
	connect_to(receiver, sender->qp_num, 0);
}

static void destroy(void)
{
	CHECK(!ibv_destroy_qp(sender) && !ibv_destroy_qp(receiver) && !ibv_destroy_srq(srq));
	CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(received)) && !ibv_destroy_cq(sent));
}

static int operate(struct ibv_ops_wr *wr)
{
	struct ibv_ops_wr *bad = NULL;
	return ibv_post_srq_ops(srq, wr, &bad);
}

/* Appends a buffer in the second half, and returns its handle. */
static uint32_t append(uint64_t id, uint64_t tag, uint64_t mask, char *at, uint32_t length)
{
	struct ibv_sge s = {(uintptr_t)at, length, mr->lkey};
	struct ibv_ops_wr wr = {.wr_id = id, .opcode = IBV_WR_TAG_ADD, .flags = IBV_OPS_SIGNALED,
		.tm = {.add = {.recv_wr_id = id + 100, .sg_list = &s, .num_sge = 1, .tag = tag, .mask = mask}}};
	CHECK(!operate(&wr));
	return wr.tm.handle;
}

static int remove_tag(uint64_t id, uint32_t handle)
{
	struct ibv_ops_wr wr = {.wr_id = id, .opcode = IBV_WR_TAG_DEL, .flags = IBV_OPS_SIGNALED, .tm = {.handle = handle}};
	return operate(&wr);
}

static int synchronize(uint64_t id, uint32_t unexpected)
{
	struct ibv_ops_wr wr = {.wr_id = id, .opcode = IBV_WR_TAG_SYNC, .flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
		.tm = {.unexpected_cnt = unexpected}};
	return operate(&wr);
}

static void send_message(int op, uint64_t tag, uint32_t private, int length)
{
	struct ibv_tmh header = {.opcode = op, .app_ctx = htobe32(private), .tag = htobe64(tag)};
	memcpy(buf, &header, HEADER);
	fill(buf + HEADER, length, (int)tag);
	CHECK(!post(sender, tag, IBV_WR_SEND, buf, HEADER + length, IBV_SEND_SIGNALED, NULL, 0, 0));
	CHECK(wait_one(sent).status == IBV_WC_SUCCESS);
}

static void receive(uint64_t id, char *at, uint32_t length)
{
	struct ibv_sge s = {(uintptr_t)at, length, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &s, .num_sge = 1}, *bad;
	CHECK(!ibv_post_srq_recv(srq, &wr, &bad));
}

static struct { uint64_t id; int status, opcode, flags; uint32_t length; struct ibv_wc_tm_info tag; } done;

static void next(int opcode, uint64_t id, int flags)
{
	struct ibv_poll_cq_attr none = {0};
	time_t end = time(NULL) + 5;
	int error;
	memset(&done, 0, sizeof(done));
	while ((error = ibv_start_poll(received, &none)) == ENOENT && time(NULL) < end)
		;
	CHECK(!error);
	if (error)
		exit(result());
	done.id = received->wr_id;
	done.status = received->status;
	done.opcode = ibv_wc_read_opcode(received);
	done.flags = ibv_wc_read_wc_flags(received);
	done.length = ibv_wc_read_byte_len(received);
	ibv_wc_read_tm_info(received, &done.tag);
	ibv_end_poll(received);
	if (done.opcode != opcode || done.id != id || done.flags != flags)
		printf("opcode %d, id %lu, flags %x, status %d instead of opcode %d, id %lu, flags %x\n", done.opcode,
			(long)done.id, done.flags, done.status, opcode, (long)id, flags);
	CHECK(done.opcode == opcode && done.id == id && done.flags == flags);
}

static void a_message_goes_to_the_buffer_of_its_tag(void)
{
	char *one = buf + HALF, *two = one + 4096;
	create();
	append(1, 0x11, ~0ul, one, 64);
	append(2, 0x22, ~0ul, two, 64);
	next(IBV_WC_TM_ADD, 1, 0);
	next(IBV_WC_TM_ADD, 2, 0);
	memset(one, 0, 8192);
	send_message(IBV_TMH_EAGER, 0x22, 77, 40);
	next(IBV_WC_TM_RECV, 102, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	CHECK(done.status == IBV_WC_SUCCESS && done.length == 40 && done.tag.tag == 0x22 && done.tag.priv == 77);
	CHECK(!memcmp(two, buf + HEADER, 40) && !two[40] && !one[0]);
	send_message(IBV_TMH_EAGER, 0x11, 78, 64);
	next(IBV_WC_TM_RECV, 101, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	CHECK(!memcmp(one, buf + HEADER, 64));
	destroy();
}

static void the_first_buffer_whose_masked_tag_matches_is_taken(void)
{
	char *one = buf + HALF, *two = one + 4096;
	create();
	append(1, 0xab00, 0xff00, one, 64);
	append(2, 0, 0, two, 64);
	next(IBV_WC_TM_ADD, 1, 0);
	next(IBV_WC_TM_ADD, 2, 0);
	send_message(IBV_TMH_EAGER, 0xabcd, 0, 8);
	next(IBV_WC_TM_RECV, 101, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	CHECK(done.tag.tag == 0xabcd);
	send_message(IBV_TMH_EAGER, 0xabcd, 0, 8);
	next(IBV_WC_TM_RECV, 102, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	destroy();
}

/* Of more than one packet: that it matches is known before all of it is there. */
static void a_long_message_completes_twice(void)
{
	create();
	append(1, 5, ~0ul, buf + HALF, 3 * MTU);
	next(IBV_WC_TM_ADD, 1, 0);
	send_message(IBV_TMH_EAGER, 5, 9, 3 * MTU);
	next(IBV_WC_TM_RECV, 101, IBV_WC_TM_MATCH);
	CHECK(done.tag.tag == 5 && done.tag.priv == 9);
	next(IBV_WC_TM_RECV, 101, IBV_WC_TM_DATA_VALID);
	CHECK(done.length == 3 * MTU && !memcmp(buf + HALF, buf + HEADER, 3 * MTU));
	destroy();
}

static void an_unexpected_message_takes_a_receive_and_stops_the_matching(void)
{
	char *one = buf + HALF, *other = one + 4096;
	create();
	receive(7, other, 256);
	send_message(IBV_TMH_EAGER, 0x33, 0, 40);
	next(IBV_WC_TM_RECV, 7, 0);
	CHECK(done.length == HEADER + 40 && !memcmp(other, buf, HEADER + 40));
	append(1, 0x44, ~0ul, one, 64); /* not matched before the device knows that its program has the message */
	next(IBV_WC_TM_ADD, 1, IBV_WC_TM_SYNC_REQ);
	receive(8, other, 256);
	send_message(IBV_TMH_EAGER, 0x44, 0, 8);
	next(IBV_WC_TM_RECV, 8, 0);
	CHECK(!synchronize(9, 1));
	next(IBV_WC_TM_SYNC, 9, 0);
	receive(10, other, 256);
	send_message(IBV_TMH_EAGER, 0x44, 0, 8); /* the second unexpected one is not synchronized yet */
	next(IBV_WC_TM_RECV, 10, 0);
	CHECK(!synchronize(11, 3));
	next(IBV_WC_TM_SYNC, 11, 0);
	send_message(IBV_TMH_EAGER, 0x44, 0, 8);
	next(IBV_WC_TM_RECV, 101, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	destroy();
}

static void a_message_without_a_tag_takes_a_receive(void)
{
	create();
	append(1, 0, 0, buf + HALF, 64);
	next(IBV_WC_TM_ADD, 1, 0);
	receive(7, buf + HALF + 4096, 256);
	send_message(IBV_TMH_NO_TAG, 0x33, 0, 40);
	next(IBV_WC_TM_NO_TAG, 7, 0);
	CHECK(done.length == HEADER + 40);
	destroy();
}

static void a_removed_buffer_takes_no_message(void)
{
	uint32_t handle;
	create();
	handle = append(1, 5, ~0ul, buf + HALF, 64);
	next(IBV_WC_TM_ADD, 1, 0);
	CHECK(!remove_tag(2, handle));
	next(IBV_WC_TM_DEL, 2, 0);
	CHECK(done.status == IBV_WC_SUCCESS);
	receive(7, buf + HALF + 4096, 256);
	send_message(IBV_TMH_EAGER, 5, 0, 8);
	next(IBV_WC_TM_RECV, 7, 0);
	destroy();
}

static void a_buffer_that_a_message_took_cannot_be_removed(void)
{
	uint32_t handle;
	create();
	handle = append(1, 5, ~0ul, buf + HALF, 64);
	next(IBV_WC_TM_ADD, 1, 0);
	send_message(IBV_TMH_EAGER, 5, 0, 8);
	CHECK(!remove_tag(2, handle));
	next(IBV_WC_TM_RECV, 101, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	next(IBV_WC_TM_DEL, 2, 0);
	CHECK(done.status == IBV_WC_TM_ERR);
	destroy();
}

static void entries_are_used_again(void)
{
	create();
	for (uint64_t i = 0; i < 5 * MAX_TAGS; i++) {
		append(i, i, ~0ul, buf + HALF, 64);
		next(IBV_WC_TM_ADD, i, 0);
		send_message(IBV_TMH_EAGER, i, 0, 8);
		next(IBV_WC_TM_RECV, i + 100, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	}
	for (uint64_t i = 0; i < MAX_TAGS; i++) {
		append(i, i, ~0ul, buf + HALF, 64);
		next(IBV_WC_TM_ADD, i, 0);
	}
	struct ibv_ops_wr full = {.opcode = IBV_WR_TAG_ADD};
	CHECK(operate(&full) == ENOMEM);
	destroy();
}

static void a_message_that_is_too_long_for_its_buffer_fails(void)
{
	create();
	append(1, 5, ~0ul, buf + HALF, 8);
	next(IBV_WC_TM_ADD, 1, 0);
	CHECK(!post(sender, 1, IBV_WR_SEND, memcpy(buf, &(struct ibv_tmh){.opcode = IBV_TMH_EAGER, .tag = htobe64(5)}, HEADER),
		HEADER + 9, IBV_SEND_SIGNALED, NULL, 0, 0));
	CHECK(wait_one(sent).status == IBV_WC_REM_INV_REQ_ERR);
	destroy();
}

/* libmlx5 connects the queue pair for its operations without a global route, which Linux accepts on InfiniBand only. */
static void ethernet_has_none(void)
{
	struct ibv_cq_init_attr_ex ci = {.cqe = 100, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &ci);
	struct ibv_srq_init_attr_ex si = {.attr = {.max_wr = 16, .max_sge = 1}, .srq_type = IBV_SRQT_TM, .pd = pd,
		.cq = ibv_cq_ex_to_cq(cq),
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.tm_cap = {.max_num_tags = MAX_TAGS, .max_ops = 8}};
	CHECK(!ibv_create_srq_ex(ctx, &si) && errno == EINVAL);
	CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

int main(void)
{
	void (*infiniband)(bool) = simulation("mlx5sim_infiniband");
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	open_device();
	RUN(ethernet_has_none());
	close_device();
	infiniband(true);
	open_device();
	CHECK(!ibv_query_device_ex(ctx, NULL, &attr) && attr.tm_caps.max_num_tags >= MAX_TAGS && attr.tm_caps.max_sge == 1);
	CHECK(!ibv_query_port(ctx, 1, &port) && port.link_layer == IBV_LINK_LAYER_INFINIBAND && port.lid);
	RUN(a_message_goes_to_the_buffer_of_its_tag());
	RUN(the_first_buffer_whose_masked_tag_matches_is_taken());
	RUN(a_long_message_completes_twice());
	RUN(an_unexpected_message_takes_a_receive_and_stops_the_matching());
	RUN(a_message_without_a_tag_takes_a_receive());
	RUN(a_removed_buffer_takes_no_message());
	RUN(a_buffer_that_a_message_took_cannot_be_removed());
	RUN(entries_are_used_again());
	RUN(a_message_that_is_too_long_for_its_buffer_fails());
	close_device();
	return result();
}
