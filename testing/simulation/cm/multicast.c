/* Memberships in multicast groups. Which queue pairs get what is sent to a group is the adapter's to know. */
#include "cm.h"

static struct group *groups[MAX_IDS];

static struct group *group_new(struct cm_id *id, uint64_t uid)
{
	for (uint32_t i = 0; i < MAX_IDS; i++)
		if (!groups[i]) {
			struct group *g = calloc(1, sizeof(*g));
			groups[i] = g;
			g->handle = i;
			g->id = id;
			g->uid = uid;
			g->next = id->groups;
			id->groups = g;
			return g;
		}
	return NULL;
}

static void group_free(struct group *g)
{
	struct group **at;
	for (at = &g->id->groups; *at != g; at = &(*at)->next)
		;
	*at = g->next;
	cm_forget_events(g->id, g);
	groups[g->handle] = NULL;
	free(g);
}

int cm_join(struct cm_id *id, uint64_t uid, const union address *a, uint16_t flags, uint64_t response)
{
	struct rdma_ucm_event_resp e = {.event = MULTICAST_JOIN};
	uint8_t gid[16];
	struct group *g;
	if (flags != RDMA_MC_JOIN_FLAG_FULLMEMBER && flags != RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		return EINVAL;
	if (!id->has_device || (id->state != BOUND && id->state != RESOLVED) || id->qp_type != IBV_QPT_UD
	    || address_is_zero(a))
		return EINVAL;
	if (a->sa.sa_family != AF_INET)
		return ENOTSUP; /* Linux has no groups of IPv6 for RoCE v2 */
	g = group_new(id, uid);
	if (!g)
		return ENOMEM;
	*(struct rdma_ucm_create_id_resp *)(uintptr_t)response = (struct rdma_ucm_create_id_resp){.id = g->handle};
	address_gid(a, gid);
	cm_address_vector(id, gid, &e.param.ud.ah_attr);
	if (!id->qkey)
		id->qkey = UDP_QKEY;
	e.param.ud.qp_num = 0xffffff;
	e.param.ud.qkey = id->qkey;
	cm_event_with(id, g, NULL, &e);
	return 0;
}

int cm_leave_group(struct cm_file *file, uint32_t handle, uint64_t response)
{
	struct group *g = handle < MAX_IDS ? groups[handle] : NULL;
	if (!g || g->id->file != file)
		return g ? EINVAL : ENOENT;
	*(struct rdma_ucm_destroy_id_resp *)(uintptr_t)response
		= (struct rdma_ucm_destroy_id_resp){.events_reported = g->events_reported};
	group_free(g);
	return 0;
}

void cm_leave_groups(struct cm_id *id)
{
	while (id->groups)
		group_free(id->groups);
}
