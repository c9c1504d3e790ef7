/* What an identifier does with the messages of its peer, and a listener with requests. */
#include "cm.h"

#define TIMEWAIT_MS (1 << (ACK_TIMEOUT - 8))

static void answer(const struct message *to, enum message_type type, uint32_t status)
{
	struct message m = {.type = type, .to = to->from, .status = status};
	message_send(&m);
}

static void refuse(const struct message *m, uint32_t reason, uint32_t datagram_status)
{
	if (m->type == LOOKUP)
		answer(m, LOOKUP_REPLY, datagram_status);
	else
		answer(m, REJ, reason);
}

static void put_data(struct rdma_ucm_event_resp *e, bool datagram, const struct message *m, size_t length)
{
	if (datagram) {
		memcpy(e->param.ud.private_data, m->private_data, length);
		e->param.ud.private_data_len = length;
	} else {
		memcpy(e->param.conn.private_data, m->private_data, length);
		e->param.conn.private_data_len = length;
	}
}

/* What the peer offers as a responder is what this side may use as an initiator. */
static void put_parameters(struct rdma_ucm_event_resp *e, const struct message *m, size_t length)
{
	struct rdma_ucm_conn_param *p = &e->param.conn;
	put_data(e, false, m, length);
	p->responder_resources = m->initiator_depth;
	p->initiator_depth = m->responder_resources;
	p->flow_control = m->flow_control;
	p->retry_count = m->retry_count;
	p->rnr_retry_count = m->rnr_retry_count;
	p->srq = m->srq;
	p->qp_num = m->qpn;
	e->ece = m->ece;
}

static void take_parameters(struct cm_id *id, const struct message *m)
{
	id->peer = m->from;
	id->remote_qpn = m->qpn;
	id->remote_psn = m->psn;
	id->responder_resources = m->initiator_depth;
	id->initiator_depth = m->responder_resources;
	id->rnr_retry_count = m->rnr_retry_count;
}

static void request(const struct message *m)
{
	struct cm_id *listener = cm_listener(m->space, &m->destination), *id;
	size_t offset = m->source.sa.sa_family == AF_IB ? 0 : ADDRESSES_SIZE;
	struct rdma_ucm_event_resp e = {.event = CONNECT_REQUEST};
	if (!listener) {
		refuse(m, INVALID_SERVICE_ID, DATAGRAM_UNSUPPORTED);
		return;
	}
	if (!listener->backlog || (m->type == REQ && listener->qp_type != m->qp_type)
	    || (m->type == LOOKUP && listener->qp_type != IBV_QPT_UD)
	    || !(id = cm_id_new(listener->file, 0, listener->space, m->qp_type))) {
		refuse(m, CONSUMER_DEFINED, DATAGRAM_REJECT);
		return;
	}
	listener->backlog--;
	id->source = m->destination;
	id->destination = m->source;
	id->has_device = true;
	id->has_path = m->type == REQ;
	id->tos = m->tos;
	id->state = CONNECTING;
	take_parameters(id, m);
	id->retry_count = m->retry_count;
	if (m->type == REQ) {
		id->link = REQ_RECEIVED;
		put_parameters(&e, m, REQUEST_DATA - offset);
	} else {
		id->link = LOOKUP_RECEIVED;
		put_data(&e, true, m, DATAGRAM_REQUEST_DATA - offset);
	}
	cm_event_with(listener, NULL, id, &e);
}

static void reply(struct cm_id *id, const struct message *m)
{
	struct rdma_ucm_event_resp e = {.event = CONNECT_RESPONSE};
	if (id->link != REQ_SENT)
		return;
	timer_stop(id);
	take_parameters(id, m);
	id->link = REP_RECEIVED;
	put_parameters(&e, m, REPLY_DATA);
	cm_event_with(id, NULL, NULL, &e);
}

static void ready(struct cm_id *id)
{
	if (id->link == REP_SENT)
		link_established(id);
}

static void enter_timewait(struct cm_id *id)
{
	id->link = TIMEWAIT;
	timer_start(id, TIMEWAIT_MS);
}

static void rejected(struct cm_id *id, const struct message *m)
{
	struct rdma_ucm_event_resp e = {.event = REJECTED, .status = m->status};
	switch (id->link) {
	case REQ_SENT:
	case REQ_RECEIVED:
	case REP_SENT:
		timer_stop(id);
		id->link = LINK_IDLE;
		break;
	case REP_RECEIVED:
	case LINK_UP: /* the peer has given up before it learnt that this side is ready */
	case DREQ_SENT:
		enter_timewait(id);
		break;
	default:
		return;
	}
	put_data(&e, false, m, REJECT_DATA);
	if (id->state == CONNECTING)
		cm_event_with(id, NULL, NULL, &e);
}

static void disconnected(struct cm_id *id)
{
	if (id->state != CONNECTING)
		return;
	id->state = DISCONNECTING;
	cm_event(id, DISCONNECTED, 0);
}

static void end(struct cm_id *id, const struct message *m)
{
	switch (id->link) {
	case REP_SENT:
	case LINK_UP:
	case DREQ_SENT:
		timer_stop(id);
		id->link = DREQ_RECEIVED;
		disconnected(id);
		break;
	case TIMEWAIT:
		answer(m, DREP, 0);
		break;
	default:
		break;
	}
}

static void ended(struct cm_id *id)
{
	if (id->link != DREQ_SENT && id->link != DREQ_RECEIVED)
		return;
	enter_timewait(id);
	disconnected(id);
}

static void looked_up(struct cm_id *id, const struct message *m)
{
	struct rdma_ucm_event_resp e = {.event = m->status ? UNREACHABLE : ESTABLISHED, .status = m->status};
	if (id->link != LOOKUP_SENT)
		return;
	timer_stop(id);
	id->link = LINK_IDLE;
	put_data(&e, true, m, DATAGRAM_REPLY_DATA);
	if (!m->status && id->qkey && id->qkey != m->qkey) {
		e.event = ADDRESS_ERROR;
		e.status = -EINVAL;
	} else if (!m->status) {
		uint8_t gid[16];
		id->qkey = m->qkey;
		address_gid(&id->destination, gid);
		cm_address_vector(id, gid, &e.param.ud.ah_attr);
		e.param.ud.qp_num = m->qpn;
		e.param.ud.qkey = m->qkey;
	}
	cm_event_with(id, NULL, NULL, &e);
}

void message_arrived(const struct message *m)
{
	struct cm_id *id;
	if (m->type == REQ || m->type == LOOKUP) {
		request(m);
		return;
	}
	id = m->to << 16 ? cm_id_of_link(m->to) : cm_id_of_peer(m->from);
	if (!id) {
		if (m->type == DREQ) /* the peer has forgotten the connection already */
			answer(m, DREP, 0);
		return;
	}
	switch (m->type) {
	case REP: reply(id, m); break;
	case RTU: ready(id); break;
	case REJ: rejected(id, m); break;
	case DREQ: end(id, m); break;
	case DREP: ended(id); break;
	default: looked_up(id, m); break;
	}
}
