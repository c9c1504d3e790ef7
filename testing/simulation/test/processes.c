/* Two processes of a network: the test starts itself again as the peer, tells it over a pipe what to do, and kills it. */
#include "common/check.h"
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 7471
enum { SIZE = 4 << 20, MESSAGES = 8, MARK = 5 };

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *buf;
};

/* What the server tells the client of its memory, as private data. */
struct place { uint64_t address; uint32_t key; };

static struct sockaddr *at(const char *host)
{
	static struct sockaddr_in a;
	a = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(PORT)};
	inet_pton(AF_INET, host, &a.sin_addr);
	return (struct sockaddr *)&a;
}

static struct rdma_cm_event *next(struct side *s, int type)
{
	struct pollfd p = {.fd = s->channel->fd, .events = POLLIN};
	struct rdma_cm_event *e = NULL;
	if (poll(&p, 1, 20000) != 1 || rdma_get_cm_event(s->channel, &e)) {
		printf("no event %s came\n", rdma_event_str(type));
		exit(1);
	}
	if ((int)e->event != type)
		printf("%s, status %d, instead of %s\n", rdma_event_str(e->event), e->status, rdma_event_str(type));
	CHECK((int)e->event == type);
	return e;
}

static void expect(struct side *s, int type)
{
	CHECK(!rdma_ack_cm_event(next(s, type)));
}

static void make(struct side *s, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 3 * MESSAGES, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	s->id = id;
	s->cq = ibv_create_cq(id->verbs, 32, NULL, NULL, 0);
	init.send_cq = init.recv_cq = s->cq;
	CHECK(!rdma_create_qp(id, NULL, &init));
	s->buf = calloc(1, SIZE);
	s->mr = ibv_reg_mr(id->pd, s->buf, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE
		| IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
	CHECK(s->cq && s->mr);
}

static struct ibv_wc wait_one(struct side *s)
{
	struct ibv_wc wc = {.status = -1};
	time_t end = time(NULL) + 20;
	int n;
	while (!(n = ibv_poll_cq(s->cq, 1, &wc)) && time(NULL) < end)
		;
	CHECK(n == 1);
	return wc;
}

static struct rdma_cm_event *connect_to(struct side *s, int answer)
{
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 1, .rnr_retry_count = 7};
	struct rdma_cm_id *id;
	s->channel = rdma_create_event_channel();
	CHECK(!rdma_create_id(s->channel, &id, NULL, RDMA_PS_TCP));
	CHECK(!rdma_resolve_addr(id, NULL, at("192.0.2.1"), 1000));
	expect(s, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(!rdma_resolve_route(id, 1000));
	expect(s, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make(s, id);
	CHECK(!rdma_connect(id, &p));
	return next(s, answer);
}

static void drop(struct side *s)
{
	rdma_destroy_qp(s->id);
	CHECK(!ibv_dereg_mr(s->mr) && !ibv_destroy_cq(s->cq));
	CHECK(!rdma_destroy_id(s->id));
	rdma_destroy_event_channel(s->channel);
	free(s->buf);
}

/* ---- the peer: accepts one connection, echoes a message, takes others in their order, then waits ---- */

static void take_in_order(struct side *s)
{
	for (uint64_t i = 0; i < MESSAGES; i++) {
		if (i % 3 == 0)
			usleep(20000); /* the messages on their way find no receive */
		CHECK(!rdma_post_recv(s->id, NULL, s->buf, 8, s->mr));
		CHECK(wait_one(s).byte_len == 8 && *(uint64_t *)s->buf == i);
	}
}

static int serve(void)
{
	struct side s = {.channel = rdma_create_event_channel()};
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7};
	struct rdma_cm_event *e;
	struct rdma_cm_id *l;
	struct place place;
	CHECK(!rdma_create_id(s.channel, &l, NULL, RDMA_PS_TCP));
	CHECK(!rdma_bind_addr(l, at("0.0.0.0")) && !rdma_listen(l, 1));
	CHECK(write(1, "L", 1) == 1);
	e = next(&s, RDMA_CM_EVENT_CONNECT_REQUEST);
	make(&s, e->id);
	CHECK(!rdma_ack_cm_event(e));
	place = (struct place){(uintptr_t)s.buf, s.mr->rkey};
	p.private_data = &place;
	p.private_data_len = sizeof(place);
	CHECK(!rdma_accept(s.id, &p));
	expect(&s, RDMA_CM_EVENT_ESTABLISHED);
	usleep(100000); /* the message waits for a receive */
	CHECK(!rdma_post_recv(s.id, NULL, s.buf, SIZE, s.mr));
	CHECK(wait_one(&s).byte_len == SIZE);
	CHECK(!rdma_post_send(s.id, NULL, s.buf, SIZE, s.mr, IBV_SEND_SIGNALED));
	CHECK(wait_one(&s).status == IBV_WC_SUCCESS);
	take_in_order(&s);
	CHECK(write(1, failures ? "F" : "E", 1) == 1);
	expect(&s, RDMA_CM_EVENT_DISCONNECTED);
	CHECK(s.buf[0] == MARK); /* what was sent behind a request that failed was not carried out */
	return failures != 0;
}

/* ---- the test ---- */

static pid_t start_peer(int *from)
{
	char *args[] = {"processes", "--serve", NULL};
	posix_spawn_file_actions_t actions;
	extern char **environ;
	int ends[2];
	pid_t peer;
	CHECK(!pipe(ends));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	CHECK(!posix_spawn(&peer, "/proc/self/exe", &actions, NULL, args, environ));
	close(ends[1]);
	*from = ends[0];
	return peer;
}

static void expect_from_peer(int from, char sign)
{
	struct pollfd p = {.fd = from, .events = POLLIN};
	char c = 0;
	CHECK(poll(&p, 1, 20000) == 1 && read(from, &c, 1) == 1 && c == sign);
}

/* Each window is bound before a message and ended behind it, once, although messages have to be sent again. */
static void messages_between_windows(struct side *s)
{
	struct ibv_mw *mw = ibv_alloc_mw(s->id->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr bind = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED, .bind_mw = {.mw = mw,
		.rkey = mw->rkey, .bind_info = {.mr = s->mr, .addr = (uintptr_t)s->buf, .length = 8,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ}}}, end = {.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED}, *bad;
	for (uint64_t i = 0; i < MESSAGES; i++) {
		((uint64_t *)s->buf)[i] = i;
		end.invalidate_rkey = bind.bind_mw.rkey = ibv_inc_rkey(bind.bind_mw.rkey);
		CHECK(!ibv_post_send(s->id->qp, &bind, &bad));
		CHECK(!rdma_post_send(s->id, NULL, s->buf + i * 8, 8, s->mr, IBV_SEND_SIGNALED));
		CHECK(!ibv_post_send(s->id->qp, &end, &bad));
	}
	for (int i = 0; i < 3 * MESSAGES; i++) {
		struct ibv_wc wc = wait_one(s);
		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(wc.opcode == (i % 3 == 0 ? IBV_WC_BIND_MW : i % 3 == 1 ? IBV_WC_SEND : IBV_WC_LOCAL_INV));
	}
	CHECK(!ibv_dealloc_mw(mw));
}

static void transfers(struct side *s, const struct place *place)
{
	struct ibv_sge sge = {(uintptr_t)s->buf, 8, s->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED, .wr.atomic = {.remote_addr = place->address, .rkey = place->key, .compare_add = 5}}, *bad;
	for (int i = 0; i < SIZE; i++)
		s->buf[i] = i * 7;
	CHECK(!rdma_post_recv(s->id, NULL, s->buf, SIZE, s->mr));
	CHECK(!rdma_post_send(s->id, NULL, s->buf, SIZE, s->mr, IBV_SEND_SIGNALED));
	struct ibv_wc one = wait_one(s), other = wait_one(s);
	CHECK(one.status == IBV_WC_SUCCESS && other.status == IBV_WC_SUCCESS);
	/* The echo may arrive before the acknowledgement. */
	CHECK((one.opcode == IBV_WC_RECV ? one : other).byte_len == SIZE);
	for (int i = 0; i < SIZE; i++)
		if (s->buf[i] != (char)(i * 7)) {
			CHECK(!"the message came back as it was");
			break;
		}
	memset(s->buf, 9, SIZE);
	CHECK(!rdma_post_write(s->id, NULL, s->buf, SIZE, s->mr, IBV_SEND_SIGNALED, place->address, place->key));
	CHECK(wait_one(s).status == IBV_WC_SUCCESS);
	memset(s->buf, 0, SIZE);
	CHECK(!rdma_post_read(s->id, NULL, s->buf, SIZE, s->mr, IBV_SEND_SIGNALED, place->address, place->key));
	CHECK(wait_one(s).opcode == IBV_WC_RDMA_READ && s->buf[0] == 9 && s->buf[SIZE - 1] == 9);
	CHECK(!ibv_post_send(s->id->qp, &wr, &bad));
	CHECK(wait_one(s).opcode == IBV_WC_FETCH_ADD && *(uint64_t *)s->buf == 0x0909090909090909);
	CHECK(!rdma_post_read(s->id, NULL, s->buf, 8, s->mr, IBV_SEND_SIGNALED, place->address, place->key));
	CHECK(wait_one(s).opcode == IBV_WC_RDMA_READ && *(uint64_t *)s->buf == 0x0909090909090909 + 5);
	messages_between_windows(s);
}

static void writes(struct side *s, const struct place *place, uint32_t key, int value)
{
	memset(s->buf + value * 8, value, 8);
	CHECK(!rdma_post_write(s->id, NULL, s->buf + value * 8, 8, s->mr, IBV_SEND_SIGNALED, place->address, key));
}

static void fails_after(struct side *s, enum ibv_wc_status status, const struct place *place, uint32_t key)
{
	CHECK(!rdma_post_write(s->id, NULL, s->buf, 8, s->mr, IBV_SEND_SIGNALED, place->address, key));
	CHECK(wait_one(s).status == status);
}

static void start_and_kill(bool by_error)
{
	struct side s;
	struct rdma_cm_event *e;
	struct rdma_cm_id *l;
	struct place place;
	int from, status;
	pid_t peer = start_peer(&from);
	expect_from_peer(from, 'L');
	e = connect_to(&s, RDMA_CM_EVENT_ESTABLISHED);
	memcpy(&place, e->param.conn.private_data, sizeof(place));
	CHECK(!rdma_ack_cm_event(e));
	/* the port is the peer's */
	CHECK(!rdma_create_id(s.channel, &l, NULL, RDMA_PS_TCP));
	CHECK(rdma_bind_addr(l, at("192.0.2.1")) && errno == EADDRINUSE);
	transfers(&s, &place);
	expect_from_peer(from, 'E');
	if (by_error) {
		writes(&s, &place, place.key, MARK);
		CHECK(wait_one(&s).status == IBV_WC_SUCCESS);
		writes(&s, &place, place.key + 256, 1);
		writes(&s, &place, place.key, 2);
		CHECK(wait_one(&s).status == IBV_WC_REM_ACCESS_ERR);
		CHECK(wait_one(&s).status == IBV_WC_WR_FLUSH_ERR);
		CHECK(!rdma_disconnect(s.id));
		CHECK(waitpid(peer, &status, 0) == peer && WIFEXITED(status) && !WEXITSTATUS(status));
		expect(&s, RDMA_CM_EVENT_DISCONNECTED);
	} else {
		kill(peer, SIGKILL);
		CHECK(waitpid(peer, &status, 0) == peer);
		expect(&s, RDMA_CM_EVENT_DISCONNECTED);
		fails_after(&s, IBV_WC_RETRY_EXC_ERR, &place, place.key);
	}
	/* and now free */
	CHECK(!rdma_bind_addr(l, at("192.0.2.1")));
	CHECK(!rdma_destroy_id(l));
	drop(&s);
	close(from);
}

int main(int argc, char **argv)
{
	char network[] = "/tmp/rdma4j-mlx5.XXXXXX", ports[64];
	struct side s;
	struct rdma_cm_event *e;
	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	CHECK(mkdtemp(network) && !setenv("MLX5SIM_NETWORK", network, 1));
	start_and_kill(true);
	start_and_kill(false);
	e = connect_to(&s, RDMA_CM_EVENT_REJECTED);
	CHECK(e->status == 8); /* nobody listens */
	CHECK(!rdma_ack_cm_event(e));
	drop(&s);
	snprintf(ports, sizeof(ports), "%s/ports", network);
	CHECK(!unlink(ports) && !rmdir(network));
	return result();
}
