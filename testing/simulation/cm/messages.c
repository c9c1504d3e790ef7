/*
 * Messages on their way: those that a command or an arrival sends are delivered in order, one after the other. The number
 * of a link says which node it is on; a request goes to the node that owns the port.
 */
#include "../wire/wire.h"
#include "cm.h"

static struct message *first, **last = &first;

/* Deliver what was sent, or what was kept back until now. The message belongs to the queue from then on. */
void message_release(struct message *m)
{
	m->next = NULL;
	*last = m;
	last = &m->next;
}

void message_send(const struct message *m)
{
	struct message *copy = malloc(sizeof(*copy));
	*copy = *m;
	if (!keep_back(copy))
		message_release(copy);
}

static bool asks(const struct message *m)
{
	return m->type == REQ || m->type == LOOKUP;
}

/* The node, or -1 if nobody owns the port. The side that asks remembers it, as it may have to take the request back. */
static int destination(const struct message *m)
{
	struct cm_id *id;
	int node;
	if (!asks(m))
		return m->to >> LINK_NODE_SHIFT;
	node = wire_owner_of_port(space_index(m->space), address_port(&m->destination));
	id = cm_id_of_link(m->from);
	if (id && node >= 0)
		id->peer = (uint64_t)node << LINK_NODE_SHIFT;
	return node;
}

/* Answers for a node that is not there. */
static void undeliverable(const struct message *m)
{
	struct message answer = {.from = m->to, .to = m->from};
	switch (m->type) {
	case REQ:
		answer.type = REJ;
		answer.status = INVALID_SERVICE_ID;
		break;
	case LOOKUP:
		answer.type = LOOKUP_REPLY;
		answer.status = DATAGRAM_UNSUPPORTED;
		break;
	case DREQ:
		answer.type = DREP;
		break;
	default:
		return;
	}
	message_arrived(&answer);
}

/* An arrival may send messages, which are then delivered as well. */
void messages_deliver(void)
{
	struct message *m;
	while ((m = first)) {
		struct iovec part = {m, sizeof(*m)};
		int node = destination(m);
		first = m->next;
		if (!first)
			last = &first;
		if (node == wire_node())
			message_arrived(m);
		else if (!wire_send(node, FRAME_CM, &part, 1))
			undeliverable(m);
		free(m);
	}
}

void cm_frame_arrived(const void *body, size_t size)
{
	if (size != sizeof(struct message))
		return;
	cm_enter();
	message_arrived(body);
	cm_leave();
}

/* The connections to a node that has ended, end as if it had said so. */
void cm_node_lost(int node)
{
	cm_enter();
	for (uint32_t handle = 0; handle < MAX_IDS; handle++) {
		struct cm_id *id = cm_id_at(handle);
		struct message m = {.to = id ? id->link_number : 0, .from = id ? id->peer : 0};
		if (!id || id->link == LINK_NONE || (int)(id->peer >> LINK_NODE_SHIFT) != node || node == wire_node())
			continue;
		switch (id->link) {
		case REQ_SENT:
		case REQ_RECEIVED:
		case REP_SENT:
		case REP_RECEIVED:
			m.type = REJ;
			m.status = CONSUMER_DEFINED;
			break;
		case LINK_UP: m.type = DREQ; break;
		case DREQ_SENT: m.type = DREP; break;
		case LOOKUP_SENT:
			m.type = LOOKUP_REPLY;
			m.status = DATAGRAM_REJECT;
			break;
		default: continue;
		}
		message_arrived(&m);
	}
	cm_leave();
}
