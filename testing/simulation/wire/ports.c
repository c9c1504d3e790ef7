/* Which node has which port, and which number is the next node's: a file of the network's directory, which all map. */
#include "wire.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SPACES = 4, PORTS = 65536, NODE_BITS = 0x3f, LISTENS = 0x40 };

static struct table {
	_Atomic uint8_t owners[SPACES * PORTS]; /* a node + 1, or 0; and whether it listens, for who looks into the file */
	_Atomic unsigned int nodes; /* that have been */
} *table;

/* Returns the number to try first: that of a process that has just ended is used again only after all others. */
int ports_open(int directory)
{
	int fd = openat(directory, "ports", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *at = MAP_FAILED;
	if (fd >= 0 && !ftruncate(fd, sizeof(*table)))
		at = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror("mlx5sim: the ports of MLX5SIM_NETWORK");
		exit(1);
	}
	close(fd);
	table = at;
	return atomic_fetch_add(&table->nodes, 1) % MAX_NODES;
}

/* An earlier process with this number may have ended without giving its ports back. */
void ports_clear(int node)
{
	for (int i = 0; i < SPACES * PORTS; i++)
		if ((table->owners[i] & NODE_BITS) == node + 1)
			table->owners[i] = 0;
}

int wire_owner_of_port(int space, uint16_t port)
{
	return wire_has_network() ? (table->owners[space * PORTS + port] & NODE_BITS) - 1 : wire_node();
}

/* Takes the port also from a node that has ended. */
bool wire_claim_port(int space, uint16_t port)
{
	_Atomic uint8_t *owner;
	uint8_t found = 0;
	if (!wire_has_network())
		return true;
	owner = &table->owners[space * PORTS + port];
	if (atomic_compare_exchange_strong(owner, &found, wire_node() + 1) || (found & NODE_BITS) == wire_node() + 1)
		return true;
	return !wire_is_there((found & NODE_BITS) - 1) && atomic_compare_exchange_strong(owner, &found, wire_node() + 1);
}

void wire_listen_at_port(int space, uint16_t port)
{
	if (wire_has_network())
		table->owners[space * PORTS + port] |= LISTENS;
}

void wire_release_port(int space, uint16_t port)
{
	if (wire_has_network())
		table->owners[space * PORTS + port] = 0;
}
