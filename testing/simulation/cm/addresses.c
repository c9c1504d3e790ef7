/* Addresses of IP and of InfiniBand, the GIDs that belong to them, and how an identifier gets its own and its peer's. */
#include "../wire/wire.h"
#include "cm.h"

size_t address_size(const union address *a)
{
	switch (a->sa.sa_family) {
	case AF_INET: return sizeof(a->in);
	case AF_INET6: return sizeof(a->in6);
	case AF_IB: return sizeof(a->ib);
	default: return 0;
	}
}

static const uint8_t *bytes_of(const union address *a, size_t *size)
{
	switch (a->sa.sa_family) {
	case AF_INET: return *size = 4, (const uint8_t *)&a->in.sin_addr;
	case AF_INET6: return *size = 16, (const uint8_t *)&a->in6.sin6_addr;
	default: return *size = 16, (const uint8_t *)&a->ib.sib_addr;
	}
}

bool address_equal(const union address *a, const union address *b)
{
	size_t size;
	const uint8_t *bytes = bytes_of(a, &size);
	return a->sa.sa_family == b->sa.sa_family && !memcmp(bytes, bytes_of(b, &size), size);
}

bool address_is_zero(const union address *a)
{
	static const uint8_t zero[16];
	size_t size;
	const uint8_t *bytes = bytes_of(a, &size);
	return !memcmp(bytes, zero, size);
}

/* Loopback addresses stand for all devices, as the address zero does. */
bool address_is_any(const union address *a)
{
	static const uint8_t loopback[16] = {[15] = 1};
	size_t size;
	const uint8_t *bytes = bytes_of(a, &size);
	return address_is_zero(a) || (size == 4 ? bytes[0] == 127 : !memcmp(bytes, loopback, 16));
}

bool address_is_multicast(const union address *a)
{
	size_t size;
	const uint8_t *bytes = bytes_of(a, &size);
	return size == 4 ? bytes[0] >> 4 == 0xe : bytes[0] == 0xff;
}

uint16_t address_port(const union address *a)
{
	switch (a->sa.sa_family) {
	case AF_INET: return ntohs(a->in.sin_port);
	case AF_INET6: return ntohs(a->in6.sin6_port);
	default: return be64toh(a->ib.sib_sid) & be64toh(a->ib.sib_sid_mask);
	}
}

void address_set_port(union address *a, uint16_t port)
{
	uint64_t mask = be64toh(a->ib.sib_sid_mask);
	switch (a->sa.sa_family) {
	case AF_INET:
		a->in.sin_port = htons(port);
		break;
	case AF_INET6:
		a->in6.sin6_port = htons(port);
		break;
	default:
		a->ib.sib_sid = htobe64((be64toh(a->ib.sib_sid) & mask) | port);
		a->ib.sib_sid_mask = ~0ull;
	}
}

/* RoCE's GID of an address: an IPv4 address mapped to IPv6, or the address itself. */
void address_gid(const union address *a, uint8_t *gid)
{
	size_t size;
	const uint8_t *bytes = bytes_of(a, &size);
	memset(gid, 0, 16);
	if (size == 4)
		gid[10] = gid[11] = 0xff;
	memcpy(gid + 16 - size, bytes, size);
}

/* The place of a GID of RoCE v2 in the port's table, or -1. */
int gid_index(const uint8_t *gid)
{
	for (int i = 1; i < sim_num_gids; i += 2)
		if (!memcmp(sim_gids[i], gid, 16))
			return i;
	return -1;
}

static bool is_local(const union address *a)
{
	uint8_t gid[16];
	address_gid(a, gid);
	return gid_index(gid) >= 0;
}

static bool is_link_local(const union address *a)
{
	const uint8_t *bytes = (const uint8_t *)&a->in6.sin6_addr;
	return a->sa.sa_family == AF_INET6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

/* True if the address would be on the same network as one of the port's, so that somebody would have to answer. */
static bool is_on_link(const union address *a)
{
	uint8_t gid[16];
	address_gid(a, gid);
	for (int i = 1; i < sim_num_gids; i += 2)
		if (!memcmp(sim_gids[i], gid, a->sa.sa_family == AF_INET ? 15 : 8))
			return true;
	return false;
}

int cm_bind(struct cm_id *id, const union address *a)
{
	int error;
	if (!address_size(a))
		return EAFNOSUPPORT;
	if (id->state != IDLE)
		return EINVAL;
	if (is_link_local(a) && !a->in6.sin6_scope_id)
		return EINVAL;
	if (!address_is_any(a) && !is_local(a))
		return EADDRNOTAVAIL;
	if (!address_is_any(a) && a->sa.sa_family == AF_IB)
		return ENODEV; /* addresses of InfiniBand are none of RoCE */
	memset(&id->source, 0, sizeof(id->source));
	memcpy(&id->source, a, address_size(a));
	if (!id->family_only_set)
		id->family_only = a->sa.sa_family == AF_INET;
	error = port_take(id);
	if (error)
		return error;
	id->state = BOUND;
	id->has_device = !address_is_any(a);
	if (!id->destination.sa.sa_family)
		id->destination.sa.sa_family = a->sa.sa_family;
	return 0;
}

static void set_source(struct cm_id *id, const union address *a)
{
	uint16_t port = id->port;
	memcpy(&id->source, a, address_size(a));
	address_set_port(&id->source, port);
}

/* The address that a message to a group leaves from, if the program has not said. */
static void first_address(sa_family_t family, union address *a)
{
	memset(a, 0, sizeof(*a));
	a->sa.sa_family = family;
	for (int i = 1; i < sim_num_gids; i += 2) {
		bool mapped = sim_gids[i][10] == 0xff && sim_gids[i][11] == 0xff && !sim_gids[i][0];
		if (mapped != (family == AF_INET))
			continue;
		memcpy(mapped ? (void *)&a->in.sin_addr : (void *)&a->in6.sin6_addr, sim_gids[i] + (mapped ? 12 : 0),
			mapped ? 4 : 16);
		return;
	}
}

int cm_resolve_address(struct cm_id *id, const union address *source, const union address *destination,
	uint32_t timeout_ms)
{
	union address own = *destination, peer = *destination;
	if (id->state == IDLE) {
		union address any = {.sa.sa_family = destination->sa.sa_family};
		int error;
		if (any.sa.sa_family == AF_INET6)
			any.in6.sin6_scope_id = destination->in6.sin6_scope_id;
		error = cm_bind(id, source && source->sa.sa_family ? source : &any);
		if (error)
			return error;
	}
	if (id->source.sa.sa_family != destination->sa.sa_family || id->state != BOUND)
		return EINVAL;
	if (!address_is_any(destination)) {
		if (destination->sa.sa_family == AF_IB)
			return ENODEV;
		if (is_link_local(destination) && !destination->in6.sin6_scope_id)
			return EINVAL;
		if (address_is_multicast(destination)) {
			first_address(destination->sa.sa_family, &own);
		} else if (!is_local(destination)) {
			if (!is_on_link(destination))
				return ENETUNREACH;
			memcpy(&id->destination, destination, address_size(destination));
			id->state = RESOLVING;
			timer_start(id, timeout_ms); /* nobody will answer */
			return 0;
		}
	} else if (address_is_zero(destination)) {
		first_address(destination->sa.sa_family, &own);
		peer = own;
		address_set_port(&peer, address_port(destination));
	}
	memset(&id->destination, 0, sizeof(id->destination));
	memcpy(&id->destination, &peer, address_size(&peer));
	if (!id->has_device)
		set_source(id, &own);
	id->has_device = true;
	id->state = RESOLVED;
	cm_event(id, ADDRESS_RESOLVED, 0);
	return 0;
}

int cm_listen(struct cm_id *id, uint32_t backlog)
{
	const uint32_t most = 1024;
	union address any = {.sa.sa_family = AF_INET};
	int error = id->state == IDLE ? cm_bind(id, &any) : 0;
	if (error)
		return error;
	if (id->state != BOUND)
		return EINVAL;
	error = port_may_listen(id);
	if (error)
		return error;
	id->state = LISTENING;
	id->backlog = backlog && backlog < most ? backlog : most;
	wire_listen_at_port(space_index(id->port_space), id->port);
	return 0;
}
