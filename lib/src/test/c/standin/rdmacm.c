/* The functions of librdmacm. Each identifier has a device from the start. */
#include "newer.h"
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct channel {
	struct rdma_event_channel channel;
	int event;
};

struct rdma_cm_id *latest_id;
static struct ibv_context *context;

static size_t length(const struct sockaddr *address)
{
	return address->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
	       : address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						: 48;
}

static void address(const char *name, const struct sockaddr *address)
{
	if (address)
		bytes(name, address, length(address));
}

static void private_data(const void *data, size_t size)
{
	bytes("private_data", data, size);
}

static struct ibv_context *the_context(void)
{
	if (!context) {
		int count;
		struct ibv_device **list = ibv_get_device_list(&count);
		context = ibv_open_device(list[0]);
		ibv_free_device_list(list);
	}
	return context;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct channel *channel = create(sizeof *channel);
	int ends[2];
	if (pipe(ends))
		abort();
	channel->channel.fd = ends[0];
	channel->event = ends[1];
	return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	close(((struct channel *)channel)->event);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *id_context, enum rdma_port_space ps)
{
	CALLED();
	POINTER(channel);
	POINTER(id_context);
	NUMBER(ps);
	*id = create(sizeof **id);
	(*id)->verbs = the_context();
	(*id)->channel = channel;
	(*id)->ps = ps;
	(*id)->port_num = 2;
	latest_id = *id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	CALLED();
	POINTER(id);
	return 0;
}

/* The identifier has a channel of its own, which is not visible. */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct rdma_addrinfo copy = *res;
	CALLED();
	POINTER(pd);
	POINTER(qp_init_attr);
	address("source", copy.ai_src_addr);
	copy.ai_src_addr = NULL;
	BYTES(copy);
	*id = create(sizeof **id);
	(*id)->verbs = the_context();
	(*id)->ps = copy.ai_port_space;
	(*id)->qp_type = copy.ai_qp_type;
	(*id)->port_num = 2;
	memcpy(&(*id)->route.addr.src_storage, res->ai_src_addr, length(res->ai_src_addr));
	latest_id = *id;
	return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	CALLED();
	POINTER(id);
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	CALLED();
	/* Another one each time: its pointer would show nothing. */
	NUMBER(id->qp_type);
	POINTER(channel);
	errno = answered();
	if (errno)
		return -1;
	id->channel = channel;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	CALLED();
	POINTER(id);
	address("addr", addr);
	memcpy(&id->route.addr.src_storage, addr, length(addr));
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	CALLED();
	POINTER(id);
	NUMBER(backlog);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms)
{
	CALLED();
	POINTER(id);
	address("src_addr", src_addr);
	address("dst_addr", dst_addr);
	NUMBER(timeout_ms);
	memcpy(&id->route.addr.dst_storage, dst_addr, length(dst_addr));
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	CALLED();
	POINTER(id);
	NUMBER(timeout_ms);
	return 0;
}

static void parameters(const struct rdma_conn_param *param)
{
	struct rdma_conn_param copy = *param;
	private_data(copy.private_data, copy.private_data_len);
	copy.private_data = NULL;
	bytes("conn_param", &copy, sizeof copy);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	CALLED();
	POINTER(id);
	parameters(conn_param);
	return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	CALLED();
	POINTER(id);
	parameters(conn_param);
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t private_data_len)
{
	CALLED();
	POINTER(id);
	private_data(data, private_data_len);
	return 0;
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *data, uint8_t private_data_len)
{
	CALLED();
	POINTER(id);
	private_data(data, private_data_len);
	return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
	CALLED();
	POINTER(id);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	CALLED();
	POINTER(id);
	return 0;
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	CALLED();
	POINTER(id);
	NUMBER(event);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	CALLED();
	POINTER(id);
	NUMBER(level);
	NUMBER(optname);
	bytes("optval", optval, optlen);
	return 0;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr)
{
	CALLED();
	POINTER(id);
	BYTES(*qp_init_attr);
	id->qp = create_qp(id->verbs, qp_init_attr);
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	CALLED();
	POINTER(id);
	id->qp = NULL;
}

/* Each attribute has another value. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	CALLED();
	POINTER(id);
	NUMBER(qp_attr->qp_state);
	*qp_attr_mask = IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_RQ_PSN;
	qp_attr->qkey = 0x81828384;
	qp_attr->rq_psn = 0xa1b2c3;
	return 0;
}

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	CALLED();
	POINTER(id);
	BYTES(*ece);
	return 0;
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	(void)id;
	*ece = (struct ibv_ece){.vendor_id = 0xf1e2d3c4, .options = 0xb5a69788, .comp_mask = 0x1234};
	return 0;
}

/* The last membership, which a multicast event names. */
static void *membership;

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *join_context)
{
	CALLED();
	POINTER(id);
	address("addr", addr);
	membership = join_context;
	return 0;
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr, void *join_context)
{
	struct rdma_cm_join_mc_attr_ex copy = *attr;
	CALLED();
	POINTER(id);
	address("addr", copy.addr);
	copy.addr = NULL;
	BYTES(copy);
	membership = join_context;
	return 0;
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	CALLED();
	POINTER(id);
	address("addr", addr);
	return 0;
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = create(2 * sizeof *list);
	list[0] = the_context();
	*num_devices = 1;
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/* What the peer said. */
static const char SAID[] = "what the peer said";

/* Raises an event of the latest identifier. A request to connect is that of a new one. */
void raise_cm_event(int type, int status)
{
	struct rdma_cm_event *event = create(sizeof *event);
	event->id = latest_id;
	event->event = type;
	event->status = status;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		event->listen_id = latest_id;
		event->id = create(sizeof *event->id);
		*event->id = *latest_id;
	}
	if (latest_id->ps == RDMA_PS_UDP) {
		event->param.ud = (struct rdma_ud_param){
			.private_data = SAID,
			.private_data_len = sizeof SAID,
			.ah_attr = {
				.grh = {.flow_label = 0xabcde, .sgid_index = 3, .hop_limit = 250, .traffic_class = 0xb8},
				.dlid = 0xc0de,
				.sl = 13,
				.src_path_bits = 0x55,
				.static_rate = IBV_RATE_100_GBPS,
				.is_global = 1,
				.port_num = 2,
			},
			.qp_num = 0xfedcba,
			.qkey = 0x81828384,
		};
		if (type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR)
			event->param.ud.private_data = membership;
	} else {
		event->param.conn = (struct rdma_conn_param){
			.private_data = SAID,
			.private_data_len = sizeof SAID,
			.responder_resources = 0xf1,
			.initiator_depth = 0xf2,
			.flow_control = 1,
			.retry_count = 5,
			.rnr_retry_count = 6,
			.srq = 1,
			.qp_num = 0xabcdef,
		};
	}
	if (type == NEWER_CM_EVENT_USER) {
		uint64_t argument = 0xfedcba9876543210;
		memcpy(&event->param, &argument, sizeof argument);
	}
	if (write(((struct channel *)latest_id->channel)->event, &event, sizeof event) != sizeof event)
		abort();
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	return read(channel->fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	int type = event->event;
	CALLED();
	NUMBER(type);
	return 0;
}

/* Answers with two addresses, one of which has all that an answer can have. */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	static struct sockaddr_in source = {.sin_family = AF_INET};
	static struct sockaddr_in destination = {.sin_family = AF_INET};
	static struct ibv_path_data path = {.flags = 7};
	static struct rdma_addrinfo second;
	static struct rdma_addrinfo first;
	struct rdma_addrinfo copy = *hints;
	CALLED();
	bytes("node", node, node ? strlen(node) : 0);
	bytes("service", service, service ? strlen(service) : 0);
	if (copy.ai_src_addr)
		bytes("source", copy.ai_src_addr, copy.ai_src_len);
	copy.ai_src_addr = NULL;
	BYTES(copy);
	source.sin_port = htobe16(0x1234);
	source.sin_addr.s_addr = htobe32(0xc0000201);
	destination.sin_port = htobe16(0x5678);
	destination.sin_addr.s_addr = htobe32(0xc6336402);
	path.path.service_id = htobe64(0x0102030405060708);
	first = (struct rdma_addrinfo){
		.ai_flags = RAI_PASSIVE,
		.ai_src_len = sizeof source,
		.ai_dst_len = sizeof destination,
		.ai_src_addr = (struct sockaddr *)&source,
		.ai_dst_addr = (struct sockaddr *)&destination,
		.ai_dst_canonname = (char *)"peer.example",
		.ai_route_len = sizeof path,
		.ai_route = &path,
		.ai_connect_len = sizeof SAID,
		.ai_connect = (void *)SAID,
		.ai_next = &second,
	};
	*res = &first;
	return 0;
}

int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	CALLED();
	POINTER(id);
	POINTER(node);
	bytes("service", service, strlen(service));
	BYTES(*hints);
	return 0;
}

int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	struct rdma_addrinfo hints = {0};
	int errnum = answered();
	if (errnum) {
		errno = errnum;
		return -1;
	}
	CALLED();
	POINTER(id);
	return rdma_getaddrinfo(NULL, NULL, &hints, info);
}

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status, uint64_t arg);

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status, uint64_t arg)
{
	CALLED();
	POINTER(id);
	NUMBER(event);
	NUMBER(status);
	NUMBER(arg);
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	(void)res;
	CALLED();
}
