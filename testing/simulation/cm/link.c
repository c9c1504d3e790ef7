/* What an identifier sends its peer: requests, replies, rejections, the end, and lookups of datagram queue pairs. */
#include "cm.h"

/* As Linux: a time of 4.096 us x 2^n in milliseconds, roughly; 15 retries; twice the way and the peer's 2^20. */
#define MS(n) (1ull << ((n) - 8))
#define RESPONSE_MS (16 * (2 * MS(PACKET_LIFE_TIME) + MS(20)))
#define TIMEWAIT_MS MS(ACK_TIMEOUT)

static struct message to_peer(struct cm_id *id, enum message_type type)
{
	return (struct message){.type = type, .from = id->link_number, .to = id->peer};
}

static void enter_timewait(struct cm_id *id)
{
	id->link = TIMEWAIT;
	timer_start(id, TIMEWAIT_MS);
}

static void put_data(struct message *m, const void *data, size_t length)
{
	memcpy(m->private_data, data, length);
}

/* A request or a lookup; the first bytes of the private data are for the addresses, unless they are InfiniBand's. */
int link_connect(struct cm_id *id, const struct rdma_ucm_connect *c)
{
	const struct rdma_ucm_conn_param *p = &c->conn_param;
	bool lookup = id->qp_type == IBV_QPT_UD;
	size_t most = (lookup ? DATAGRAM_REQUEST_DATA : REQUEST_DATA)
		- (id->source.sa.sa_family == AF_IB ? 0 : ADDRESSES_SIZE);
	struct message m = to_peer(id, lookup ? LOOKUP : REQ);
	if (id->state != ROUTED || p->private_data_len > most)
		return EINVAL;
	id->qpn = p->qp_num & 0xffffff;
	id->srq = !!p->srq;
	id->responder_resources = p->responder_resources;
	id->initiator_depth = p->initiator_depth;
	id->retry_count = p->retry_count < 7 ? p->retry_count : 7;
	m.to = 0;
	m.space = id->port_space;
	m.qp_type = id->qp_type;
	m.tos = id->tos;
	m.source = id->source;
	m.destination = id->destination;
	m.qpn = id->qpn;
	m.psn = id->psn;
	m.responder_resources = p->responder_resources;
	m.initiator_depth = p->initiator_depth;
	m.flow_control = p->flow_control;
	m.retry_count = id->retry_count;
	m.rnr_retry_count = p->rnr_retry_count < 7 ? p->rnr_retry_count : 7;
	m.srq = id->srq;
	m.ece = c->ece;
	put_data(&m, p->private_data, p->private_data_len);
	id->state = CONNECTING;
	id->link = lookup ? LOOKUP_SENT : REQ_SENT;
	timer_start(id, RESPONSE_MS);
	message_send(&m);
	return 0;
}

static void answer_lookup(struct cm_id *id, enum datagram_status status, const void *data, uint8_t length)
{
	struct message m = to_peer(id, LOOKUP_REPLY);
	m.status = status;
	if (status == DATAGRAM_SUCCESS) {
		m.qpn = id->qpn;
		m.qkey = id->qkey;
	}
	put_data(&m, data, length);
	id->link = LINK_IDLE;
	message_send(&m);
}

static int accept_lookup(struct cm_id *id, const struct rdma_ucm_conn_param *p)
{
	/* Only an address of InfiniBand brings a key of its own. */
	uint32_t qkey = id->source.sa.sa_family == AF_IB && p->valid ? p->qkey : 0;
	if (id->link != LOOKUP_RECEIVED || p->private_data_len > DATAGRAM_REPLY_DATA)
		return EINVAL;
	if (!id->qkey)
		id->qkey = qkey ? qkey : UDP_QKEY;
	else if (qkey && qkey != id->qkey)
		return EINVAL;
	answer_lookup(id, DATAGRAM_SUCCESS, p->private_data, p->private_data_len);
	return 0;
}

static int reply(struct cm_id *id, const struct rdma_ucm_accept *a)
{
	const struct rdma_ucm_conn_param *p = &a->conn_param;
	struct message m = to_peer(id, REP);
	if (id->link != REQ_RECEIVED || p->private_data_len > REPLY_DATA)
		return EINVAL;
	id->responder_resources = p->responder_resources;
	id->initiator_depth = p->initiator_depth;
	m.qpn = id->qpn;
	m.psn = id->psn;
	m.responder_resources = p->responder_resources;
	m.initiator_depth = p->initiator_depth;
	m.flow_control = p->flow_control;
	m.rnr_retry_count = p->rnr_retry_count < 7 ? p->rnr_retry_count : 7;
	m.srq = id->srq;
	m.ece = a->ece;
	put_data(&m, p->private_data, p->private_data_len);
	id->link = REP_SENT;
	timer_start(id, RESPONSE_MS);
	message_send(&m);
	return 0;
}

static int ready(struct cm_id *id)
{
	struct message m = to_peer(id, RTU);
	if (id->link != REP_RECEIVED)
		return EINVAL;
	id->link = LINK_UP;
	message_send(&m);
	return 0;
}

/* The answer to a request if it has parameters, else that a reply was taken. What fails rejects the peer. */
int link_accept(struct cm_id *id, const struct rdma_ucm_accept *a)
{
	const struct rdma_ucm_conn_param *p = &a->conn_param;
	int error;
	if (id->state != CONNECTING)
		return EINVAL;
	if (p->valid) {
		id->qpn = p->qp_num & 0xffffff;
		id->srq = !!p->srq;
	}
	if (id->qp_type == IBV_QPT_UD)
		error = accept_lookup(id, p);
	else
		error = p->valid ? reply(id, a) : ready(id);
	if (error)
		link_reject(id, CONSUMER_DEFINED, NULL, 0);
	else if (p->valid)
		id->uid = a->uid;
	return error;
}

static int send_reject(struct cm_id *id, enum reason reason, const void *data, uint8_t length)
{
	struct message m = to_peer(id, REJ);
	switch (id->link) {
	case REQ_SENT:
	case REQ_RECEIVED:
	case REP_RECEIVED:
		timer_stop(id);
		id->link = LINK_IDLE;
		break;
	case REP_SENT:
		enter_timewait(id);
		break;
	default:
		return EINVAL;
	}
	m.status = reason;
	put_data(&m, data, length);
	message_send(&m);
	return 0;
}

int link_reject(struct cm_id *id, uint8_t reason, const void *data, uint8_t length)
{
	if (id->link == LINK_NONE)
		return EINVAL;
	if (id->qp_type != IBV_QPT_UD)
		return length > REJECT_DATA ? EINVAL : send_reject(id, reason, data, length);
	if (id->link != LOOKUP_RECEIVED || length > DATAGRAM_REPLY_DATA)
		return EINVAL;
	answer_lookup(id, DATAGRAM_REJECT, data, length);
	return 0;
}

static void start_end(struct cm_id *id)
{
	struct message m = to_peer(id, DREQ);
	id->link = DREQ_SENT;
	timer_start(id, RESPONSE_MS);
	message_send(&m);
}

static void answer_end(struct cm_id *id)
{
	struct message m = to_peer(id, DREP);
	enter_timewait(id);
	message_send(&m);
}

/* Starts the end, or answers that of the peer. */
int link_disconnect(struct cm_id *id)
{
	if (id->link == LINK_NONE)
		return EINVAL;
	if (id->link == LINK_UP)
		start_end(id);
	else if (id->link == DREQ_RECEIVED)
		answer_end(id);
	return 0;
}

/* The queue pair has received before the message came that the peer is ready. */
int link_established(struct cm_id *id)
{
	if (id->link == LINK_UP)
		return EISCONN;
	if (id->link != REP_SENT)
		return EINVAL;
	timer_stop(id);
	id->link = LINK_UP;
	cm_event(id, ESTABLISHED, 0);
	return 0;
}

/* The peer learns of the end of an identifier from the message that fits. */
void link_destroy(struct cm_id *id)
{
	switch (id->link) {
	case REQ_SENT:
		send_reject(id, TIMED_OUT, NULL, 0);
		break;
	case REQ_RECEIVED:
	case REP_SENT:
	case REP_RECEIVED:
		send_reject(id, CONSUMER_DEFINED, NULL, 0);
		break;
	case LINK_UP:
		start_end(id);
		break;
	case DREQ_RECEIVED:
		answer_end(id);
		break;
	case LOOKUP_RECEIVED:
		answer_lookup(id, DATAGRAM_REJECT, NULL, 0);
		break;
	default:
		break;
	}
	timer_stop(id);
}

void link_timer(struct cm_id *id)
{
	if (id->state == RESOLVING) {
		id->state = BOUND;
		cm_event(id, ADDRESS_ERROR, -ETIMEDOUT);
		return;
	}
	switch (id->link) {
	case REQ_SENT:
	case REP_SENT:
	case LOOKUP_SENT:
		id->link = LINK_IDLE;
		if (id->state == CONNECTING)
			cm_event(id, UNREACHABLE, -ETIMEDOUT);
		break;
	case DREQ_SENT:
		enter_timewait(id);
		if (id->state == CONNECTING) {
			id->state = DISCONNECTING;
			cm_event(id, DISCONNECTED, -ETIMEDOUT);
		}
		break;
	case TIMEWAIT:
		id->link = LINK_IDLE;
		if (id->state == DISCONNECTING)
			cm_event(id, TIMEWAIT_EXIT, 0);
		break;
	default:
		break;
	}
}
