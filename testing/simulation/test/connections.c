/* Connections, datagram lookups and multicast groups within one process, through unmodified librdmacm. */
#include "common/check.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS "192.0.2.1"

struct side {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char buf[256];
};

static struct rdma_event_channel *channel;

static union { struct sockaddr sa; struct sockaddr_in in; struct sockaddr_storage ss; } address;

static struct sockaddr *at(const char *host, int port)
{
	memset(&address, 0, sizeof(address));
	address.in.sin_family = AF_INET;
	address.in.sin_port = htons(port);
	inet_pton(AF_INET, host, &address.in.sin_addr);
	return &address.sa;
}

/* The next event, which must be of that type and of that identifier, if one is given. Not acknowledged. */
static struct rdma_cm_event *next(struct rdma_event_channel *from, int type, struct rdma_cm_id *id)
{
	struct pollfd p = {.fd = from->fd, .events = POLLIN};
	struct rdma_cm_event *e = NULL;
	if (poll(&p, 1, 5000) != 1 || rdma_get_cm_event(from, &e)) {
		CHECK(!"an event came");
		exit(1);
	}
	if ((int)e->event != type)
		printf("%s, status %d, instead of %d\n", rdma_event_str(e->event), e->status, type);
	CHECK((int)e->event == type && (!id || e->id == id));
	return e;
}

static void expect(int type, struct rdma_cm_id *id)
{
	CHECK(!rdma_ack_cm_event(next(channel, type, id)));
}

static bool is_quiet(struct rdma_event_channel *c, int ms)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	return !poll(&p, 1, ms);
}

static struct rdma_cm_id *new_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;
	CHECK(!rdma_create_id(channel, &id, NULL, ps));
	return id;
}

static struct rdma_cm_id *listener(enum rdma_port_space ps, const char *host, int backlog)
{
	struct rdma_cm_id *id = new_id(ps);
	CHECK(!rdma_bind_addr(id, at(host, 0)));
	CHECK(!rdma_listen(id, backlog));
	CHECK(rdma_get_src_port(id));
	return id;
}

static struct rdma_cm_id *resolved(enum rdma_port_space ps, const char *host, int port)
{
	struct rdma_cm_id *id = new_id(ps);
	CHECK(!rdma_resolve_addr(id, NULL, at(host, port), 1000));
	expect(RDMA_CM_EVENT_ADDR_RESOLVED, id);
	CHECK(!rdma_resolve_route(id, 1000));
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED, id);
	CHECK(id->verbs && id->port_num == 1 && id->route.num_paths == 1);
	return id;
}

static void make(struct side *s, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.qp_type = id->qp_type,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	s->id = id;
	s->pd = ibv_alloc_pd(id->verbs);
	s->cq = ibv_create_cq(id->verbs, 32, NULL, NULL, 0);
	s->mr = ibv_reg_mr(s->pd, s->buf, sizeof(s->buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	init.send_cq = init.recv_cq = s->cq;
	CHECK(!rdma_create_qp(id, s->pd, &init));
	CHECK(s->mr && id->qp);
}

static void drop(struct side *s)
{
	if (s->id->qp)
		rdma_destroy_qp(s->id);
	CHECK(!ibv_dereg_mr(s->mr));
	CHECK(!ibv_destroy_cq(s->cq));
	CHECK(!ibv_dealloc_pd(s->pd));
	CHECK(!rdma_destroy_id(s->id));
}

static struct ibv_wc wait_one(struct ibv_cq *cq)
{
	struct ibv_wc wc = {.status = -1};
	time_t end = time(NULL) + 5;
	int n;
	while (!(n = ibv_poll_cq(cq, 1, &wc)) && time(NULL) < end)
		;
	CHECK(n == 1);
	return wc;
}

static const struct rdma_conn_param asked = {.private_data = "question", .private_data_len = 9,
	.responder_resources = 3, .initiator_depth = 5, .retry_count = 7, .rnr_retry_count = 6};
static const struct rdma_conn_param answered = {.private_data = "answer", .private_data_len = 7,
	.responder_resources = 5, .initiator_depth = 2, .rnr_retry_count = 7};

/* Connects a to b, which is new, over a listener. */
static void connected(struct rdma_cm_id *l, const char *host, struct side *a, struct side *b)
{
	struct rdma_cm_event *e;
	struct rdma_conn_param p = asked;
	make(a, resolved(RDMA_PS_TCP, host, ntohs(rdma_get_src_port(l))));
	CHECK(!rdma_connect(a->id, &p));
	e = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	CHECK(e->listen_id == l && e->param.conn.private_data_len == 56 && !strcmp(e->param.conn.private_data, "question"));
	CHECK(e->param.conn.responder_resources == 5 && e->param.conn.initiator_depth == 3);
	CHECK(e->param.conn.retry_count == 7 && e->param.conn.rnr_retry_count == 6);
	CHECK(e->param.conn.qp_num == a->id->qp->qp_num);
	make(b, e->id);
	CHECK(!rdma_ack_cm_event(e));
	CHECK(rdma_get_src_port(b->id) == rdma_get_src_port(l) && rdma_get_dst_port(b->id) == rdma_get_src_port(a->id));
	p = answered;
	CHECK(!rdma_accept(b->id, &p));
	e = next(channel, RDMA_CM_EVENT_ESTABLISHED, a->id);
	CHECK(e->param.conn.private_data_len == 196 && !strcmp(e->param.conn.private_data, "answer"));
	CHECK(e->param.conn.responder_resources == 2 && e->param.conn.initiator_depth == 5);
	CHECK(!rdma_ack_cm_event(e));
	expect(RDMA_CM_EVENT_ESTABLISHED, b->id);
}

static void check_states(struct side *a, struct side *b)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	CHECK(!ibv_query_qp(a->id->qp, &attr, IBV_QP_STATE, &init));
	CHECK(attr.qp_state == IBV_QPS_RTS && attr.dest_qp_num == b->id->qp->qp_num);
	CHECK(attr.max_rd_atomic == 5 && attr.max_dest_rd_atomic == 2 && attr.rnr_retry == 7 && attr.retry_cnt == 7);
	CHECK(!ibv_query_qp(b->id->qp, &attr, IBV_QP_STATE, &init));
	CHECK(attr.qp_state == IBV_QPS_RTS && attr.dest_qp_num == a->id->qp->qp_num);
	CHECK(attr.max_rd_atomic == 2 && attr.max_dest_rd_atomic == 5 && attr.rnr_retry == 6);
}

static void message(struct side *from, struct side *to)
{
	strcpy(from->buf, "hello");
	memset(to->buf, 0, 16);
	CHECK(!rdma_post_recv(to->id, to, to->buf, 16, to->mr));
	CHECK(!rdma_post_send(from->id, from, from->buf, 6, from->mr, IBV_SEND_SIGNALED));
	CHECK(wait_one(to->cq).status == IBV_WC_SUCCESS && !strcmp(to->buf, "hello"));
	CHECK(wait_one(from->cq).status == IBV_WC_SUCCESS);
}

static void disconnect(struct side *first, struct side *second)
{
	CHECK(!rdma_disconnect(first->id));
	expect(RDMA_CM_EVENT_DISCONNECTED, second->id);
	CHECK(!rdma_disconnect(second->id));
	expect(RDMA_CM_EVENT_DISCONNECTED, first->id);
}

static void connect_and_disconnect(const char *bound, const char *host)
{
	struct rdma_cm_id *l = listener(RDMA_PS_TCP, bound, 5);
	struct side a, b;
	connected(l, host, &a, &b);
	check_states(&a, &b);
	message(&a, &b);
	message(&b, &a);
	disconnect(&a, &b);
	drop(&a);
	drop(&b);
	CHECK(!rdma_destroy_id(l));
}

static void timewait(void)
{
	struct rdma_cm_id *l = listener(RDMA_PS_TCP, ADDRESS, 5);
	struct side a, b;
	connected(l, ADDRESS, &a, &b);
	disconnect(&b, &a);
	expect(RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL);
	expect(RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL);
	drop(&a);
	drop(&b);
	CHECK(!rdma_destroy_id(l));
}

static void destroyed_identifiers_disconnect(void)
{
	struct rdma_cm_id *l = listener(RDMA_PS_TCP, ADDRESS, 5);
	struct side a, b;
	connected(l, ADDRESS, &a, &b);
	drop(&a);
	expect(RDMA_CM_EVENT_DISCONNECTED, b.id);
	drop(&b);
	CHECK(!rdma_destroy_id(l));
}

static struct rdma_cm_id *request_to(struct rdma_cm_id *l, struct side *a)
{
	struct rdma_conn_param p = asked;
	struct rdma_cm_event *e;
	struct rdma_cm_id *id;
	make(a, resolved(RDMA_PS_TCP, ADDRESS, ntohs(rdma_get_src_port(l))));
	CHECK(!rdma_connect(a->id, &p));
	e = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	id = e->id;
	CHECK(!rdma_ack_cm_event(e));
	return id;
}

static void expect_rejected(struct side *a, int reason, const char *data)
{
	struct rdma_cm_event *e = next(channel, RDMA_CM_EVENT_REJECTED, a->id);
	CHECK(e->status == reason && e->param.conn.private_data_len == 148 && !strcmp(e->param.conn.private_data, data));
	CHECK(!rdma_ack_cm_event(e));
}

static void rejections(void)
{
	struct rdma_cm_id *l = listener(RDMA_PS_TCP, ADDRESS, 1), *id;
	struct rdma_conn_param p = asked;
	struct side a, b;
	/* by the program, by the end of the identifier */
	id = request_to(l, &a);
	CHECK(!rdma_reject(id, "no", 3));
	expect_rejected(&a, 28, "no");
	CHECK(!rdma_destroy_id(id));
	drop(&a);
	id = request_to(l, &a);
	CHECK(!rdma_destroy_id(id));
	expect_rejected(&a, 28, "");
	drop(&a);
	/* beyond the backlog, and with the listener that has not read it */
	make(&a, resolved(RDMA_PS_TCP, ADDRESS, ntohs(rdma_get_src_port(l))));
	make(&b, resolved(RDMA_PS_TCP, ADDRESS, ntohs(rdma_get_src_port(l))));
	CHECK(!rdma_migrate_id(l, rdma_create_event_channel()));
	CHECK(!rdma_connect(a.id, &p));
	CHECK(!rdma_connect(b.id, &p));
	expect_rejected(&b, 28, "");
	CHECK(!is_quiet(l->channel, 0));
	CHECK(!rdma_destroy_id(l));
	expect_rejected(&a, 28, "");
	drop(&a);
	drop(&b);
	/* nobody listens */
	make(&a, resolved(RDMA_PS_TCP, ADDRESS, 9));
	CHECK(!rdma_connect(a.id, &p));
	expect_rejected(&a, 8, "");
	CHECK(rdma_connect(a.id, &p) && errno == EINVAL);
	drop(&a);
}

/* The server notices only when it goes on. */
static void a_client_gives_up(void)
{
	struct rdma_cm_id *l = listener(RDMA_PS_TCP, ADDRESS, 1), *id;
	struct rdma_conn_param p = answered;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct side a;
	int mask;
	id = request_to(l, &a);
	drop(&a);
	CHECK(is_quiet(channel, 0));
	CHECK(rdma_init_qp_attr(id, &attr, &mask) && errno == EINVAL);
	p.qp_num = 77;
	CHECK(rdma_accept(id, &p) && errno == EINVAL);
	CHECK(!rdma_destroy_id(id));
	CHECK(!rdma_destroy_id(l));
}

static void addresses(void)
{
	struct rdma_cm_id *a = new_id(RDMA_PS_TCP), *b = new_id(RDMA_PS_TCP), *c = new_id(RDMA_PS_UDP);
	int port, one = 1;
	CHECK(rdma_bind_addr(a, at("192.0.2.77", 0)) && errno == EADDRNOTAVAIL);
	CHECK(!rdma_bind_addr(a, at(ADDRESS, 0)) && a->verbs);
	port = ntohs(rdma_get_src_port(a));
	CHECK(rdma_bind_addr(b, at(ADDRESS, port)) && errno == EADDRINUSE);
	CHECK(rdma_bind_addr(b, at("0.0.0.0", port)) && errno == EADDRNOTAVAIL);
	CHECK(!rdma_bind_addr(c, at(ADDRESS, port))); /* a space of its own */
	CHECK(!rdma_set_option(a, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, sizeof(one)));
	CHECK(!rdma_set_option(b, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, sizeof(one)));
	CHECK(!rdma_bind_addr(b, at(ADDRESS, port)));
	CHECK(!rdma_listen(c, 1));
	CHECK(rdma_listen(a, 1) && errno == EADDRINUSE);
	CHECK(!rdma_destroy_id(b));
	CHECK(!rdma_listen(a, 1));
	CHECK(!rdma_destroy_id(a));
	CHECK(!rdma_destroy_id(c));
	a = new_id(RDMA_PS_TCP);
	CHECK(!rdma_bind_addr(a, at("0.0.0.0", 0)) && !a->verbs);
	CHECK(!rdma_destroy_id(a));
	a = new_id(RDMA_PS_TCP);
	CHECK(rdma_resolve_addr(a, NULL, at("198.51.100.1", 1), 100) && errno == ENETUNREACH);
	CHECK(!rdma_resolve_addr(a, NULL, at("192.0.2.77", 1), 100));
	expect(RDMA_CM_EVENT_ADDR_ERROR, a);
	CHECK(!rdma_destroy_id(a));
}

static void *read_one(void *from)
{
	struct rdma_cm_event *e = NULL;
	return rdma_get_cm_event(from, &e) ? NULL : e;
}

static void channels(void)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_cm_event *e;
	struct rdma_cm_id *a = new_id(RDMA_PS_TCP);
	pthread_t reader;
	CHECK(!rdma_resolve_addr(a, NULL, at(ADDRESS, 1), 100));
	CHECK(!is_quiet(channel, 0));
	CHECK(!rdma_migrate_id(a, other));
	CHECK(is_quiet(channel, 0));
	CHECK(!rdma_ack_cm_event(next(other, RDMA_CM_EVENT_ADDR_RESOLVED, a)));
	CHECK(is_quiet(other, 0));
	CHECK(!fcntl(other->fd, F_SETFL, O_NONBLOCK));
	CHECK(rdma_get_cm_event(other, &e) && errno == EAGAIN);
	CHECK(!fcntl(other->fd, F_SETFL, 0));
	/* a thread waits without poll; events that nobody reads go with the identifier */
	CHECK(!pthread_create(&reader, NULL, read_one, other));
	CHECK(!rdma_resolve_route(a, 100));
	CHECK(!pthread_join(reader, (void **)&e) && e && e->event == RDMA_CM_EVENT_ROUTE_RESOLVED);
	CHECK(!rdma_ack_cm_event(e));
	CHECK(!rdma_destroy_id(a));
	CHECK(is_quiet(other, 0));
	rdma_destroy_event_channel(other);
}

static void *serve(void *ep)
{
	struct rdma_cm_id *id = NULL;
	struct ibv_wc wc;
	static char buf[64];
	struct ibv_mr *mr;
	CHECK(!rdma_get_request(ep, &id));
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	CHECK(!rdma_post_recv(id, NULL, buf, sizeof(buf), mr));
	CHECK(!rdma_accept(id, NULL));
	CHECK(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS && !strcmp(buf, "endpoint"));
	CHECK(!rdma_disconnect(id));
	CHECK(!rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
	return NULL;
}

static void endpoints(void)
{
	struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP}, *info;
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_all = 1};
	struct rdma_cm_id *l = NULL, *id = NULL;
	static char buf[] = "endpoint";
	struct ibv_mr *mr;
	struct ibv_wc wc;
	pthread_t server;
	CHECK(!rdma_getaddrinfo(ADDRESS, "7471", &hints, &info));
	CHECK(!rdma_create_ep(&l, info, NULL, &init));
	rdma_freeaddrinfo(info);
	CHECK(!rdma_listen(l, 1));
	CHECK(!pthread_create(&server, NULL, serve, l));
	hints.ai_flags = 0;
	CHECK(!rdma_getaddrinfo(ADDRESS, "7471", &hints, &info));
	CHECK(!rdma_create_ep(&id, info, NULL, &init));
	rdma_freeaddrinfo(info);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	CHECK(!rdma_connect(id, NULL));
	CHECK(!rdma_post_send(id, NULL, buf, sizeof(buf), mr, 0));
	CHECK(rdma_get_send_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(!rdma_disconnect(id));
	pthread_join(server, NULL);
	CHECK(!rdma_dereg_mr(mr));
	rdma_destroy_ep(id);
	rdma_destroy_ep(l);
}

static void datagram(struct side *from, struct side *to, struct rdma_ud_param *p)
{
	struct ibv_ah *ah = ibv_create_ah(from->pd, &p->ah_attr);
	CHECK(ah);
	strcpy(from->buf, "datagram");
	CHECK(!rdma_post_recv(to->id, NULL, to->buf, 100, to->mr));
	CHECK(!rdma_post_ud_send(from->id, NULL, from->buf, 9, from->mr, IBV_SEND_SIGNALED, ah, p->qp_num));
	CHECK(wait_one(from->cq).status == IBV_WC_SUCCESS);
	CHECK(wait_one(to->cq).status == IBV_WC_SUCCESS && !strcmp(to->buf + 40, "datagram"));
	CHECK(!ibv_destroy_ah(ah));
}

static void lookups(void)
{
	struct rdma_cm_id *l = listener(RDMA_PS_UDP, ADDRESS, 5), *id;
	struct rdma_conn_param p = asked;
	struct rdma_cm_event *e;
	struct side a, b;
	make(&a, resolved(RDMA_PS_UDP, ADDRESS, ntohs(rdma_get_src_port(l))));
	CHECK(!rdma_connect(a.id, &p));
	e = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	CHECK(e->param.ud.private_data_len == 180 && !strcmp(e->param.ud.private_data, "question"));
	make(&b, e->id);
	CHECK(!rdma_ack_cm_event(e));
	p = answered;
	p.qp_num = b.id->qp->qp_num;
	CHECK(!rdma_accept(b.id, &p));
	e = next(channel, RDMA_CM_EVENT_ESTABLISHED, a.id);
	CHECK(e->param.ud.private_data_len == 136 && !strcmp(e->param.ud.private_data, "answer"));
	CHECK(e->param.ud.qp_num == b.id->qp->qp_num && e->param.ud.qkey == RDMA_UDP_QKEY);
	datagram(&a, &b, &e->param.ud);
	CHECK(!rdma_ack_cm_event(e));
	drop(&a);
	drop(&b);
	/* refused by the program, and because nobody listens */
	for (int i = 0; i < 2; i++) {
		p = asked;
		make(&a, resolved(RDMA_PS_UDP, ADDRESS, i ? 9 : ntohs(rdma_get_src_port(l))));
		CHECK(!rdma_connect(a.id, &p));
		if (!i) {
			e = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
			id = e->id;
			CHECK(!rdma_ack_cm_event(e));
			CHECK(!rdma_reject(id, NULL, 0));
			CHECK(!rdma_destroy_id(id));
		}
		e = next(channel, RDMA_CM_EVENT_UNREACHABLE, a.id);
		CHECK(e->status == (i ? 1 : 2));
		CHECK(!rdma_ack_cm_event(e));
		drop(&a);
	}
	CHECK(!rdma_destroy_id(l));
}

static void groups(void)
{
	static char context;
	struct side a, b;
	struct rdma_cm_event *e;
	struct rdma_cm_id *ids[2];
	for (int i = 0; i < 2; i++) {
		union { struct sockaddr sa; struct sockaddr_in in; } source;
		ids[i] = new_id(RDMA_PS_UDP);
		source.in = *(struct sockaddr_in *)at(ADDRESS, 0);
		CHECK(!rdma_resolve_addr(ids[i], &source.sa, at("239.1.1.3", 0), 1000));
		expect(RDMA_CM_EVENT_ADDR_RESOLVED, ids[i]);
		make(i ? &b : &a, ids[i]);
		CHECK(!rdma_join_multicast(ids[i], at("239.1.1.3", 0), &context));
		e = next(channel, RDMA_CM_EVENT_MULTICAST_JOIN, ids[i]);
		CHECK(e->param.ud.private_data == &context && e->param.ud.qp_num == 0xffffff);
		CHECK(e->param.ud.qkey == RDMA_UDP_QKEY);
		if (i)
			datagram(&a, &b, &e->param.ud);
		CHECK(!rdma_ack_cm_event(e));
	}
	CHECK(!rdma_leave_multicast(ids[1], at("239.1.1.3", 0)));
	CHECK(rdma_leave_multicast(ids[1], at("239.1.1.3", 0)) && errno == EADDRNOTAVAIL);
	drop(&a);
	drop(&b);
}

/* Messages that are kept back arrive, or are lost, as the test says; who waits for a lost one gives up when it is told to. */
static void disorder(void)
{
	void (*keep_messages)(bool) = simulation("mlx5sim_keep_messages");
	int (*kept_messages)(void) = simulation("mlx5sim_kept_messages");
	bool (*arrive)(int, bool) = simulation("mlx5sim_message");
	void (*expire)(void) = simulation("mlx5sim_expire");
	void (*remove)(void) = simulation("mlx5sim_remove");
	struct rdma_cm_id *l = listener(RDMA_PS_TCP, ADDRESS, 5);
	struct rdma_conn_param p = asked;
	struct rdma_cm_event *e;
	struct side a, b;
	make(&a, resolved(RDMA_PS_TCP, ADDRESS, ntohs(rdma_get_src_port(l))));
	keep_messages(true);
	CHECK(!rdma_connect(a.id, &p));
	CHECK(is_quiet(channel, 20) && kept_messages() == 1);
	CHECK(arrive(0, false) && !arrive(0, false));
	e = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	make(&b, e->id);
	CHECK(!rdma_ack_cm_event(e));
	p = answered;
	CHECK(!rdma_accept(b.id, &p));
	CHECK(arrive(0, true) && !kept_messages() && is_quiet(channel, 20));
	keep_messages(false);
	expire();
	e = next(channel, RDMA_CM_EVENT_UNREACHABLE, NULL);
	CHECK(e->status == -ETIMEDOUT && !rdma_ack_cm_event(e));
	expect(RDMA_CM_EVENT_UNREACHABLE, NULL);
	drop(&a);
	drop(&b);
	/* The server gives up before it learns that the client is ready. */
	make(&a, resolved(RDMA_PS_TCP, ADDRESS, ntohs(rdma_get_src_port(l))));
	p = asked;
	CHECK(!rdma_connect(a.id, &p));
	e = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	make(&b, e->id);
	CHECK(!rdma_ack_cm_event(e));
	p = answered;
	CHECK(!rdma_accept(b.id, &p));
	keep_messages(true);
	expect(RDMA_CM_EVENT_ESTABLISHED, a.id);
	CHECK(arrive(0, true));
	drop(&b);
	keep_messages(false);
	e = next(channel, RDMA_CM_EVENT_REJECTED, a.id);
	CHECK(e->status == 28 && !rdma_ack_cm_event(e));
	drop(&a);
	remove();
	expect(RDMA_CM_EVENT_DEVICE_REMOVAL, l);
	CHECK(!rdma_destroy_id(l));
}

int main(void)
{
	channel = rdma_create_event_channel();
	CHECK(channel);
	connect_and_disconnect(ADDRESS, ADDRESS);
	connect_and_disconnect("0.0.0.0", ADDRESS);
	connect_and_disconnect("127.0.0.1", "127.0.0.1");
	timewait();
	destroyed_identifiers_disconnect();
	rejections();
	a_client_gives_up();
	addresses();
	channels();
	endpoints();
	lookups();
	groups();
	disorder();
	CHECK(is_quiet(channel, 0));
	rdma_destroy_event_channel(channel);
	return result();
}
