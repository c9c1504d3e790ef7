/* The commands that librdmacm writes to the descriptor. */
#include "cm.h"

#define USER(T, at) ((T *)(uintptr_t)(at))

static struct cm_id *id_of(struct cm_file *file, uint32_t handle, int *error)
{
	struct cm_id *id = cm_id_at(handle);
	*error = !id ? ENOENT : id->file != file ? EINVAL : 0;
	return *error ? NULL : id;
}

static int create(struct cm_file *file, const struct rdma_ucm_create_id *c)
{
	struct cm_id *id;
	uint8_t type;
	switch (c->ps) {
	case RDMA_PS_TCP: type = IBV_QPT_RC; break;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB: type = IBV_QPT_UD; break;
	case RDMA_PS_IB: type = c->qp_type; break;
	default: return EINVAL;
	}
	id = cm_id_new(file, c->uid, c->ps, type);
	if (!id)
		return ENOMEM;
	*USER(struct rdma_ucm_create_id_resp, c->response) = (struct rdma_ucm_create_id_resp){.id = id->handle};
	return 0;
}

static int destroy(struct cm_id *id, const struct rdma_ucm_destroy_id *c)
{
	uint64_t response = c->response;
	*USER(struct rdma_ucm_destroy_id_resp, response)
		= (struct rdma_ucm_destroy_id_resp){.events_reported = cm_id_destroy(id)};
	return 0;
}

static int bind_to(struct cm_id *id, const void *from, size_t size)
{
	union address a = {0};
	memcpy(&a, from, size);
	return !address_size(&a) ? EAFNOSUPPORT : size < address_size(&a) ? EINVAL : cm_bind(id, &a);
}

static int resolve(struct cm_id *id, const struct rdma_ucm_resolve_addr *c)
{
	union address source = {0}, destination = {0};
	if (c->reserved || c->src_size > sizeof(source) || c->dst_size > sizeof(destination))
		return EINVAL;
	memcpy(&source, &c->src_addr, c->src_size);
	memcpy(&destination, &c->dst_addr, c->dst_size);
	if ((c->src_size && c->src_size != address_size(&source)) || !c->dst_size
	    || c->dst_size != address_size(&destination))
		return EINVAL;
	return cm_resolve_address(id, &source, &destination, c->timeout_ms);
}

static int resolve_ip(struct cm_id *id, const struct rdma_ucm_resolve_ip *c)
{
	union address source = {.in6 = c->src_addr}, destination = {.in6 = c->dst_addr};
	if ((source.sa.sa_family && !address_size(&source)) || !address_size(&destination))
		return EINVAL;
	return cm_resolve_address(id, &source, &destination, c->timeout_ms);
}

static int resolve_route(struct cm_id *id)
{
	if (id->state != RESOLVED)
		return EINVAL;
	id->state = ROUTED;
	id->has_path = true;
	cm_event(id, ROUTE_RESOLVED, 0);
	return 0;
}

static int set_path(struct cm_id *id, const struct ib_path_rec_data *path, size_t length)
{
	if (length % sizeof(*path))
		return EINVAL;
	for (; length; length -= sizeof(*path), path++)
		if (path->flags == (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)) {
			if (id->state != RESOLVED)
				return EINVAL;
			id->given_path = *path;
			return resolve_route(id);
		}
	return EINVAL;
}

static int set_option_of_id(struct cm_id *id, uint32_t name, const void *value, size_t length)
{
	size_t size = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT ? 1 : sizeof(int);
	if (name > RDMA_OPTION_ID_ACK_TIMEOUT)
		return ENOSYS;
	if (length != size)
		return EINVAL;
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		id->tos = *(const uint8_t *)value;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		if (!*(const int *)value && id->state != IDLE)
			return EINVAL;
		id->reuse_address = *(const int *)value;
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		if (id->state != IDLE && id->state != BOUND)
			return EINVAL;
		id->family_only = *(const int *)value;
		id->family_only_set = true;
		return 0;
	default:
		if (*(const uint8_t *)value > 31 || id->qp_type == IBV_QPT_UD)
			return EINVAL;
		id->ack_timeout = *(const uint8_t *)value;
		id->ack_timeout_set = true;
		return 0;
	}
}

static int set_option(struct cm_id *id, const struct rdma_ucm_set_option *c)
{
	const void *value = USER(const void, c->optval);
	if (c->optlen > 4096)
		return EINVAL;
	switch (c->level) {
	case RDMA_OPTION_ID: return set_option_of_id(id, c->optname, value, c->optlen);
	case RDMA_OPTION_IB: return c->optname == RDMA_OPTION_IB_PATH ? set_path(id, value, c->optlen) : ENOSYS;
	default: return ENOSYS;
	}
}

static int reject(struct cm_id *id, const struct rdma_ucm_reject *c)
{
	uint8_t reason = c->reason ? c->reason : CONSUMER_DEFINED;
	if (reason != CONSUMER_DEFINED && reason != VENDOR_OPTION_NOT_SUPPORTED)
		return EINVAL;
	return link_reject(id, reason, c->private_data, c->private_data_len);
}

static int notify(struct cm_id *id, uint32_t event)
{
	if (id->link == LINK_NONE || event != IBV_EVENT_COMM_EST)
		return EINVAL;
	return link_established(id);
}

static int join(struct cm_id *id, const struct rdma_ucm_join_mcast *c)
{
	union address a = {0};
	if (c->addr_size > sizeof(a))
		return EINVAL;
	memcpy(&a, &c->addr, c->addr_size);
	if (!c->addr_size || c->addr_size != address_size(&a))
		return EINVAL;
	return cm_join(id, c->uid, &a, c->join_flags, c->response);
}

static int join_ip(struct cm_id *id, const struct rdma_ucm_join_ip_mcast *c)
{
	union address a = {.in6 = c->addr};
	return address_size(&a) ? cm_join(id, c->uid, &a, RDMA_MC_JOIN_FLAG_FULLMEMBER, c->response) : EINVAL;
}

/* From the descriptor that the command names to the one that it was written to. */
static int migrate(struct cm_file *to, const struct rdma_ucm_migrate_id *c)
{
	struct cm_file *from = cm_file_of(c->fd);
	struct cm_id *id;
	int error;
	if (!from)
		return ENOENT;
	id = id_of(from, c->id, &error);
	if (!id)
		return error;
	if (from != to) {
		cm_move_events(id, to);
		cm_id_to_file(id, to);
	}
	*USER(struct rdma_ucm_migrate_resp, c->response)
		= (struct rdma_ucm_migrate_resp){.events_reported = id->events_reported};
	return 0;
}

static int get_event(int fd, const struct rdma_ucm_get_event *c, size_t size)
{
	struct rdma_ucm_event_resp e;
	int error;
	if (size < offsetof(struct rdma_ucm_event_resp, reserved))
		return ENOSPC;
	error = cm_take_event(fd, &e);
	if (!error)
		memcpy(USER(void, c->response), &e, size < sizeof(e) ? size : sizeof(e));
	return error;
}

/* The structure of a command, in which older callers may leave out the last bytes. */
union command {
	struct rdma_ucm_create_id create_id;
	struct rdma_ucm_destroy_id destroy_id;
	struct rdma_ucm_bind_ip bind_ip;
	struct rdma_ucm_bind bind;
	struct rdma_ucm_resolve_ip resolve_ip;
	struct rdma_ucm_resolve_addr resolve_addr;
	struct rdma_ucm_resolve_route resolve_route;
	struct rdma_ucm_query query;
	struct rdma_ucm_connect connect;
	struct rdma_ucm_listen listen;
	struct rdma_ucm_accept accept;
	struct rdma_ucm_reject reject;
	struct rdma_ucm_disconnect disconnect;
	struct rdma_ucm_init_qp_attr init_qp_attr;
	struct rdma_ucm_get_event get_event;
	struct rdma_ucm_set_option set_option;
	struct rdma_ucm_notify notify;
	struct rdma_ucm_join_ip_mcast join_ip_mcast;
	struct rdma_ucm_join_mcast join_mcast;
	struct rdma_ucm_migrate_id migrate_id;
};

/* For each command, where its structure has the identifier, and how long its response is at least. */
#define AT(member) offsetof(union command, member)
#define NO_ID SIZE_MAX
static const struct { size_t id, response; } commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = {NO_ID, sizeof(struct rdma_ucm_create_id_resp)},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {AT(destroy_id.id), sizeof(struct rdma_ucm_destroy_id_resp)},
	[RDMA_USER_CM_CMD_BIND_IP] = {AT(bind_ip.id), 0},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {AT(resolve_ip.id), 0},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {AT(resolve_route.id), 0},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {AT(query.id), offsetof(struct rdma_ucm_query_route_resp, ibdev_index)},
	[RDMA_USER_CM_CMD_CONNECT] = {AT(connect.id), 0},
	[RDMA_USER_CM_CMD_LISTEN] = {AT(listen.id), 0},
	[RDMA_USER_CM_CMD_ACCEPT] = {AT(accept.id), 0},
	[RDMA_USER_CM_CMD_REJECT] = {AT(reject.id), 0},
	[RDMA_USER_CM_CMD_DISCONNECT] = {AT(disconnect.id), 0},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {AT(init_qp_attr.id), sizeof(struct ib_uverbs_qp_attr)},
	[RDMA_USER_CM_CMD_GET_EVENT] = {NO_ID, 0},
	[RDMA_USER_CM_CMD_SET_OPTION] = {AT(set_option.id), 0},
	[RDMA_USER_CM_CMD_NOTIFY] = {AT(notify.id), 0},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {AT(join_ip_mcast.id), sizeof(struct rdma_ucm_create_id_resp)},
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {NO_ID, sizeof(struct rdma_ucm_destroy_id_resp)},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {NO_ID, 0},
	[RDMA_USER_CM_CMD_QUERY] = {AT(query.id), 0},
	[RDMA_USER_CM_CMD_BIND] = {AT(bind.id), 0},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {AT(resolve_addr.id), 0},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {AT(join_mcast.id), sizeof(struct rdma_ucm_create_id_resp)},
};

static int execute(int fd, uint32_t number, const union command *c, size_t size)
{
	struct cm_file *file = cm_file_of(fd);
	struct cm_id *id = NULL;
	int error;
	if (!file)
		return EBADF;
	if (size < commands[number].response)
		return ENOSPC;
	if (commands[number].id != NO_ID) {
		id = id_of(file, *(const uint32_t *)((const char *)c + commands[number].id), &error);
		if (!id)
			return error;
	}
	switch (number) {
	case RDMA_USER_CM_CMD_CREATE_ID: return create(file, &c->create_id);
	case RDMA_USER_CM_CMD_DESTROY_ID: return destroy(id, &c->destroy_id);
	case RDMA_USER_CM_CMD_BIND_IP: return bind_to(id, &c->bind_ip.addr, sizeof(c->bind_ip.addr));
	case RDMA_USER_CM_CMD_BIND:
		if (c->bind.reserved || c->bind.addr_size > sizeof(c->bind.addr))
			return EINVAL;
		return bind_to(id, &c->bind.addr, c->bind.addr_size);
	case RDMA_USER_CM_CMD_RESOLVE_IP: return resolve_ip(id, &c->resolve_ip);
	case RDMA_USER_CM_CMD_RESOLVE_ADDR: return resolve(id, &c->resolve_addr);
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE: return resolve_route(id);
	case RDMA_USER_CM_CMD_QUERY_ROUTE: return cm_query_route(id, c->query.response);
	case RDMA_USER_CM_CMD_QUERY: return cm_query(id, &c->query, size);
	case RDMA_USER_CM_CMD_CONNECT: return c->connect.conn_param.valid ? link_connect(id, &c->connect) : EINVAL;
	case RDMA_USER_CM_CMD_LISTEN: return cm_listen(id, c->listen.backlog);
	case RDMA_USER_CM_CMD_ACCEPT: return link_accept(id, &c->accept);
	case RDMA_USER_CM_CMD_REJECT: return reject(id, &c->reject);
	case RDMA_USER_CM_CMD_DISCONNECT: return link_disconnect(id);
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
		return cm_init_qp_attr(id, c->init_qp_attr.qp_state, c->init_qp_attr.response);
	case RDMA_USER_CM_CMD_GET_EVENT: return get_event(fd, &c->get_event, size);
	case RDMA_USER_CM_CMD_SET_OPTION: return set_option(id, &c->set_option);
	case RDMA_USER_CM_CMD_NOTIFY: return notify(id, c->notify.event);
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST: return join_ip(id, &c->join_ip_mcast);
	case RDMA_USER_CM_CMD_JOIN_MCAST: return join(id, &c->join_mcast);
	case RDMA_USER_CM_CMD_LEAVE_MCAST: return cm_leave_group(file, c->destroy_id.id, c->destroy_id.response);
	case RDMA_USER_CM_CMD_MIGRATE_ID: return migrate(file, &c->migrate_id);
	default: return ENOSYS; /* options cannot be read */
	}
}

ssize_t cm_write(int fd, const void *buf, size_t length)
{
	struct rdma_ucm_cmd_hdr header;
	union command c = {0};
	int error;
	memcpy(&header, buf, length < sizeof(header) ? length : sizeof(header));
	if (length < sizeof(header) || header.in + sizeof(header) > length
	    || header.cmd >= sizeof(commands) / sizeof(*commands))
		return errno = EINVAL, -1;
	memcpy(&c, (const char *)buf + sizeof(header), header.in < sizeof(c) ? header.in : sizeof(c));
	cm_enter();
	error = execute(fd, header.cmd, &c, header.out);
	cm_leave();
	TRACE("rdma_cm command %u: %d\n", header.cmd, error);
	return error ? (errno = error, -1) : (ssize_t)length;
}
