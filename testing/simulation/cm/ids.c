/* Identifiers: their numbers, and their life from creation to destruction. */
#include "../wire/wire.h"
#include "cm.h"

static struct cm_id *ids[MAX_IDS];
static uint32_t free_handles[MAX_IDS], num_free, next_handle, next_link;

static uint32_t handle_take(void)
{
	if (num_free)
		return free_handles[--num_free];
	return next_handle < MAX_IDS ? next_handle++ : MAX_IDS;
}

static void link_files(struct cm_id *id, struct cm_file *file)
{
	id->file = file;
	id->next_in_file = file->ids;
	id->prev_in_file = &file->ids;
	if (file->ids)
		file->ids->prev_in_file = &id->next_in_file;
	file->ids = id;
}

static void unlink_files(struct cm_id *id)
{
	*id->prev_in_file = id->next_in_file;
	if (id->next_in_file)
		id->next_in_file->prev_in_file = id->prev_in_file;
}

void cm_id_to_file(struct cm_id *id, struct cm_file *file)
{
	unlink_files(id);
	link_files(id, file);
}

/* NULL if there are too many. The link's number holds the handle, and differs from those that had the handle before. */
struct cm_id *cm_id_new(struct cm_file *file, uint64_t uid, uint16_t space, uint8_t qp_type)
{
	uint32_t handle = handle_take();
	struct cm_id *id;
	if (handle == MAX_IDS)
		return NULL;
	if (!next_link) /* so that nobody takes this process for an earlier one with the same number */
		next_link = random() & 0xffffff;
	id = calloc(1, sizeof(*id));
	id->handle = handle;
	id->uid = uid;
	id->space = space;
	id->qp_type = qp_type;
	id->psn = random() & 0xffffff;
	id->link_number = (uint64_t)wire_node() << LINK_NODE_SHIFT | (uint64_t)++next_link << 16 | handle;
	ids[handle] = id;
	link_files(id, file);
	return id;
}

struct cm_id *cm_id_at(uint32_t handle)
{
	return handle < MAX_IDS ? ids[handle] : NULL;
}

struct cm_id *cm_id_of_link(uint64_t link_number)
{
	struct cm_id *id = cm_id_at(link_number & 0xffff);
	return id && id->link_number == link_number ? id : NULL;
}

int cm_count(void)
{
	int n = 0;
	cm_enter();
	for (uint32_t i = 0; i < next_handle; i++)
		n += ids[i] && ids[i]->has_device;
	cm_leave();
	return n;
}

/* For a peer that gives up before it has learned the number of this side. */
struct cm_id *cm_id_of_peer(uint64_t peer)
{
	for (uint32_t i = 0; i < next_handle; i++)
		if (ids[i] && ids[i]->peer == peer)
			return ids[i];
	return NULL;
}

/* Returns how many events were reported. */
uint32_t cm_id_destroy(struct cm_id *id)
{
	uint32_t reported;
	timer_stop(id);
	link_destroy(id);
	port_release(id);
	cm_leave_groups(id);
	cm_forget_events(id, NULL);
	unlink_files(id);
	reported = id->events_reported;
	ids[id->handle] = NULL;
	free_handles[num_free++] = id->handle;
	free(id);
	return reported;
}

/* The identifier that listens at an address: one that is bound to it, or else one that is bound to all. */
struct cm_id *cm_listener(uint16_t space, const union address *to)
{
	struct cm_id *any = NULL;
	for (struct cm_id *id = port_owners(space, address_port(to)); id; id = id->next_on_port) {
		if (id->state != LISTENING)
			continue;
		if (id->source.sa.sa_family == to->sa.sa_family && address_equal(&id->source, to))
			return id;
		if (address_is_any(&id->source) && (id->source.sa.sa_family == to->sa.sa_family || !id->family_only))
			any = id;
	}
	return any;
}
