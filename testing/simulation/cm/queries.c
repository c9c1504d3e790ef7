/* What an identifier knows: its addresses, GIDs and path, and how its queue pair changes state. */
#include "cm.h"
#include <infiniband/sa.h>

#define MTU IBV_MTU_1024 /* of the port */
#define RATE IBV_RATE_100_GBPS
#define EXACTLY 2 /* selects the value that stands beside it */
#define USER(T, at) ((T *)(uintptr_t)(at))

static void gids(struct cm_id *id, uint8_t *source, uint8_t *destination)
{
	address_gid(&id->source, source);
	address_gid(&id->destination, destination);
}

static int query_address(struct cm_id *id, void *to, size_t size, bool as_gids)
{
	struct rdma_ucm_query_addr_resp r = {0};
	union address *source = (void *)&r.src_addr, *destination = (void *)&r.dst_addr;
	const size_t least = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);
	if (size < least)
		return ENOSPC;
	if (id->has_device) { /* the partition key stays 0: Linux reports it only on InfiniBand */
		r.node_guid = sim_node_guid;
		r.port_num = 1;
	}
	if (as_gids) {
		r.src_size = r.dst_size = sizeof(struct sockaddr_ib);
		source->ib.sib_family = destination->ib.sib_family = AF_IB;
		if (id->has_device)
			gids(id, (uint8_t *)&source->ib.sib_addr, (uint8_t *)&destination->ib.sib_addr);
		source->ib.sib_sid = htobe64(((uint64_t)id->space << 16) + address_port(&id->source));
		destination->ib.sib_sid = htobe64(((uint64_t)id->space << 16) + address_port(&id->destination));
	} else {
		r.src_size = address_size(&id->source);
		r.dst_size = address_size(&id->destination);
		memcpy(source, &id->source, r.src_size);
		memcpy(destination, &id->destination, r.dst_size);
	}
	memcpy(to, &r, least);
	return 0;
}

static void path_of(struct cm_id *id, struct ib_path_rec_data *to)
{
	struct ibv_path_record *p = (void *)to->path_rec;
	if (id->given_path.flags) {
		*to = id->given_path;
		return;
	}
	memset(to, 0, sizeof(*to));
	to->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	gids(id, p->sgid.raw, p->dgid.raw);
	p->flowlabel_hoplimit = htobe32(HOP_LIMIT);
	p->tclass = id->tos;
	p->reversible_numpath = IBV_PATH_RECORD_REVERSIBLE;
	p->pkey = htobe16(PARTITION_KEY);
	p->mtu = EXACTLY << 6 | MTU;
	p->rate = EXACTLY << 6 | RATE;
	p->packetlifetime = EXACTLY << 6 | PACKET_LIFE_TIME;
}

static int query_path(struct cm_id *id, struct rdma_ucm_query_path_resp *to, size_t size)
{
	if (size < sizeof(*to))
		return ENOSPC;
	to->num_paths = id->has_path;
	to->reserved = 0;
	if (id->has_path && size >= sizeof(*to) + sizeof(to->path_data[0]))
		path_of(id, to->path_data);
	return 0;
}

int cm_query(struct cm_id *id, const struct rdma_ucm_query *q, size_t size)
{
	void *to = USER(void, q->response);
	switch (q->option) {
	case RDMA_USER_CM_QUERY_ADDR: return query_address(id, to, size, false);
	case RDMA_USER_CM_QUERY_PATH: return query_path(id, to, size);
	case RDMA_USER_CM_QUERY_GID: return query_address(id, to, size, true);
	default: return ENOSYS;
	}
}

/* For a librdmacm that does not know addresses of InfiniBand. */
int cm_query_route(struct cm_id *id, uint64_t response)
{
	struct rdma_ucm_query_route_resp r = {0};
	struct ib_user_path_rec *path = &r.ib_route[0];
	if (id->source.sa.sa_family != AF_IB)
		memcpy(&r.src_addr, &id->source, address_size(&id->source));
	if (id->destination.sa.sa_family != AF_IB)
		memcpy(&r.dst_addr, &id->destination, address_size(&id->destination));
	if (id->has_device) {
		r.node_guid = sim_node_guid;
		r.port_num = 1;
		gids(id, path->sgid, path->dgid);
		path->pkey = htobe16(PARTITION_KEY);
	}
	if (id->has_path) {
		r.num_paths = 1;
		path->reversible = 1;
		path->numb_path = 1;
		path->mtu = MTU;
		path->hop_limit = HOP_LIMIT;
		path->traffic_class = id->tos;
		path->mtu_selector = path->rate_selector = path->packet_life_time_selector = EXACTLY;
		path->rate = RATE;
		path->packet_life_time = PACKET_LIFE_TIME;
	}
	memcpy(USER(void, response), &r, offsetof(struct rdma_ucm_query_route_resp, ibdev_index));
	return 0;
}

void cm_address_vector(struct cm_id *id, const uint8_t *gid, struct ib_uverbs_ah_attr *av)
{
	uint8_t source[16];
	address_gid(&id->source, source);
	memset(av, 0, sizeof(*av));
	memcpy(av->grh.dgid, gid, 16);
	av->grh.sgid_index = gid_index(source);
	av->grh.hop_limit = HOP_LIMIT;
	av->grh.traffic_class = id->tos;
	av->is_global = 1;
	av->port_num = 1;
}

static bool is_one_of(enum link_state link, bool before_reply)
{
	switch (link) {
	case REQ_SENT: return before_reply;
	case REQ_RECEIVED:
	case REP_SENT:
	case REP_RECEIVED:
	case LINK_UP: return true;
	default: return false;
	}
}

static int to_init(struct cm_id *id, struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	a->port_num = 1;
	if (id->qp_type == IBV_QPT_UD) {
		if (!id->qkey)
			id->qkey = UDP_QKEY;
		a->qkey = id->qkey;
		a->qp_attr_mask |= IBV_QP_QKEY;
		return 0;
	}
	a->qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
	if (id->link == LINK_NONE)
		return 0;
	if (!is_one_of(id->link, true))
		return EINVAL;
	a->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		a->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	return 0;
}

static int to_rtr(struct cm_id *id, struct ib_uverbs_qp_attr *a)
{
	uint8_t gid[16];
	if (!is_one_of(id->link, false))
		return EINVAL;
	address_gid(&id->destination, gid);
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	cm_address_vector(id, gid, &a->ah_attr);
	a->path_mtu = MTU;
	a->dest_qp_num = id->remote_qpn;
	a->rq_psn = id->psn;
	if (id->qp_type != IBV_QPT_UC) {
		a->qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		a->max_dest_rd_atomic = id->responder_resources;
	}
	return 0;
}

static int to_rts(struct cm_id *id, struct ib_uverbs_qp_attr *a)
{
	if (!is_one_of(id->link, false))
		return EINVAL;
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	a->sq_psn = id->remote_psn;
	if (id->qp_type != IBV_QPT_UC) {
		a->qp_attr_mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		a->timeout = id->ack_timeout_set ? id->ack_timeout : ACK_TIMEOUT;
		a->retry_cnt = id->retry_count;
		a->rnr_retry = id->rnr_retry_count;
		a->max_rd_atomic = id->initiator_depth;
	}
	return 0;
}

int cm_init_qp_attr(struct cm_id *id, uint32_t state, uint64_t response)
{
	struct ib_uverbs_qp_attr a = {.qp_state = state};
	int error;
	if (!id->has_device)
		return EINVAL;
	if (id->qp_type == IBV_QPT_UD || id->link == LINK_NONE || state == IBV_QPS_INIT)
		error = to_init(id, &a);
	else if (state == IBV_QPS_RTR)
		error = to_rtr(id, &a);
	else
		error = state == IBV_QPS_RTS ? to_rts(id, &a) : EINVAL;
	if (!error)
		*USER(struct ib_uverbs_qp_attr, response) = a;
	return error;
}
