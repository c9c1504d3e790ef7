/* Ports: each space has its own. Who owns a port is in a list, as several may if their addresses differ. */
#include "../wire/wire.h"
#include "cm.h"
#include <unistd.h>

#define FIRST_PORT 32768 /* of those that are given to whom asks for any */
#define LAST_PORT 60999
#define RESERVED 1024

static struct cm_id *owners[4][65536];

int space_index(uint16_t space)
{
	switch (space) {
	case RDMA_PS_TCP: return 0;
	case RDMA_PS_UDP: return 1;
	case RDMA_PS_IB: return 2;
	default: return 3;
	}
}

struct cm_id *port_owners(uint16_t space, uint16_t port)
{
	return owners[space_index(space)][port];
}

/* The space that an identifier takes ports from: addresses of InfiniBand name one in their service, above the port. */
static uint16_t space_of(struct cm_id *id)
{
	static const uint16_t spaces[] = {RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP};
	const uint64_t port_bits = 0xffff;
	struct sockaddr_ib *ib = &id->source.ib;
	uint64_t mask = be64toh(ib->sib_sid_mask) & ~port_bits;
	if (id->source.sa.sa_family != AF_IB)
		return id->space;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
		uint64_t service = (uint64_t)spaces[i] << 16;
		if ((id->space != RDMA_PS_IB && id->space != spaces[i]) || (be64toh(ib->sib_sid) & mask) != (service & mask))
			continue;
		ib->sib_sid = htobe64(service | address_port(&id->source));
		ib->sib_sid_mask = htobe64(~port_bits | be64toh(ib->sib_sid_mask));
		return spaces[i];
	}
	return 0;
}

/* False if another node owns it. */
static bool own(struct cm_id *id, uint16_t port)
{
	int space = space_index(id->port_space);
	struct cm_id **list = &owners[space][port];
	if (!wire_claim_port(space, port))
		return false;
	address_set_port(&id->source, port);
	id->port = port;
	id->owns_port = true;
	id->next_on_port = *list;
	*list = id;
	return true;
}

void port_release(struct cm_id *id)
{
	int space = space_index(id->port_space);
	struct cm_id **at = &owners[space][id->port];
	if (!id->owns_port)
		return;
	while (*at != id)
		at = &(*at)->next_on_port;
	*at = id->next_on_port;
	id->owns_port = false;
	if (!owners[space][id->port])
		wire_release_port(space, id->port);
}

/* 0 if the identifier may share the port with those who own it. */
static int conflict(struct cm_id *id, uint16_t port, bool reuse)
{
	for (struct cm_id *other = port_owners(id->port_space, port); other; other = other->next_on_port) {
		if (other == id || (other->state != LISTENING && reuse && other->reuse_address))
			continue;
		if (id->family_only && other->family_only && id->source.sa.sa_family != other->source.sa.sa_family)
			continue;
		if (address_is_any(&id->source) || address_is_any(&other->source))
			return EADDRNOTAVAIL;
		if (address_equal(&id->source, &other->source))
			return EADDRINUSE;
	}
	return 0;
}

static int take_any(struct cm_id *id)
{
	const int count = LAST_PORT - FIRST_PORT + 1;
	int start = random() % count;
	for (int i = 0; i < count; i++) {
		uint16_t port = FIRST_PORT + (start + i) % count;
		if (!port_owners(id->port_space, port) && own(id, port))
			return 0;
	}
	return EADDRNOTAVAIL;
}

/* Takes the port of the identifier's address, or any if it is 0. */
int port_take(struct cm_id *id)
{
	uint16_t port;
	int error;
	id->port_space = space_of(id);
	if (!id->port_space)
		return EPROTONOSUPPORT;
	port = address_port(&id->source);
	if (!port)
		return take_any(id);
	if (port < RESERVED && geteuid())
		return EACCES;
	error = conflict(id, port, id->reuse_address);
	return error ? error : own(id, port) ? 0 : EADDRINUSE;
}

/* Addresses that were shared before anybody listened may not be listened at twice. */
int port_may_listen(struct cm_id *id)
{
	return id->reuse_address ? conflict(id, id->port, false) : 0;
}
