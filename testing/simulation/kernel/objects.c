/* The objects of each context, what they need of each other, and their end. */
#include "kernel.h"

pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;
struct cq *sim_cqs;
struct qp *sim_qps;
struct srq *sim_srqs;
struct context *sim_contexts;

uint32_t next_number = 0x80;

static int counts[O_ACTION + 1];

/* The number of objects of a kind, by the name that the tool rdma has for it: for tests that look for leaks. */
EXPORT int mlx5sim_count(const char *kind)
{
	static const struct { const char *name; enum obj_type type; } kinds[] = {
		{"pd", O_PD}, {"mr", O_MR}, {"mw", O_MW}, {"cq", O_CQ}, {"qp", O_QP}, {"srq", O_SRQ}, {"ah", O_AH},
	};
	int n = -1;
	if (!strcmp(kind, "cm_id"))
		return cm_count();
	pthread_mutex_lock(&sim_lock);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kind, kinds[i].name))
			n = counts[kinds[i].type];
	pthread_mutex_unlock(&sim_lock);
	return n;
}

void *object_new(struct context *ctx, size_t size, enum obj_type type)
{
	struct obj *o = calloc(1, size);
	uint32_t i;
	for (i = 1; i < ctx->num_objs && ctx->objs[i]; i++)
		;
	if (i >= ctx->num_objs) {
		uint32_t n = ctx->num_objs ? ctx->num_objs * 2 : 256;
		ctx->objs = realloc(ctx->objs, n * sizeof(*ctx->objs));
		memset(ctx->objs + ctx->num_objs, 0, (n - ctx->num_objs) * sizeof(*ctx->objs));
		i = ctx->num_objs ? ctx->num_objs : 1;
		ctx->num_objs = n;
	}
	ctx->objs[i] = o;
	counts[type]++;
	o->type = type;
	o->handle = i;
	o->ctx = ctx;
	o->async = ctx->async;
	return o;
}

struct obj *sim_obj(struct context *ctx, uint64_t handle, enum obj_type type)
{
	struct obj *o = handle < ctx->num_objs ? ctx->objs[handle] : NULL;
	return o && o->type == type ? o : NULL;
}

/* The file for the events of an object, if an attribute names one. */
void object_events(struct ib_uverbs_ioctl_hdr *h, struct obj *o, uint16_t id)
{
	if (attr_has(h, id))
		o->async = event_file_of((int)attr_in_number(h, id));
}

void object_forget(struct obj *o)
{
	o->ctx->objs[o->handle] = NULL;
	counts[o->type]--;
	free(o);
}

void qp_async(struct qp *qp, enum ibv_event_type type)
{
	event_push(qp->o.async, qp, &qp->async_reported, qp->user, type);
}

/* An object needs another one, if there is one. */
void used(struct obj *o)
{
	if (o)
		o->users++;
}

static void unused(struct obj *o)
{
	if (o)
		o->users--;
}

int object_destroy(struct obj *o)
{
	if (o->users)
		return EBUSY;
	switch (o->type) {
	case O_MR: {
		struct mr *mr = (struct mr *)o;
		if (mr->mk->windows)
			return EINVAL;
		mr_unmap(mr);
		if (mr->dm)
			mr->dm->users--;
		mkey_delete(mr->mk);
		break;
	}
	case O_MW:
		unbind_window(((struct mw *)o)->mk);
		mkey_delete(((struct mw *)o)->mk);
		break;
	case O_AH:
		((struct ah *)o)->pd->o.users--;
		break;
	case O_FLOW:
		unused(((struct flow *)o)->qp);
		break;
	case O_TABLE:
		for (uint32_t i = 0; i < ((struct wq_table *)o)->size; i++)
			unused(((struct wq_table *)o)->wqs[i]);
		break;
	case O_WQ:
		unused(&((struct wq *)o)->pd->o);
		unused(&((struct wq *)o)->cq->o);
		break;
	case O_OPENED: /* with its context */
		if (((struct opened *)o)->qp)
			((struct opened *)o)->qp->opened--;
		break;
	case O_DEVX:
		devx_destroyed(o);
		break;
	case O_DM:
		dm_free((struct dm *)o);
		break;
	case O_CQ: {
		struct cq *cq = (struct cq *)o, **at = &sim_cqs;
		while (*at != cq)
			at = &(*at)->next;
		*at = cq->next;
		efa_cq_ends(cq);
		event_purge(cq->channel, cq);
		event_purge(o->async, cq);
		break;
	}
	case O_SRQ: {
		struct srq *srq = (struct srq *)o, **at = &sim_srqs;
		while (*at != srq)
			at = &(*at)->next;
		*at = srq->next;
		unused(&srq->pd->o);
		unused(srq->cq ? &srq->cq->o : NULL);
		unused(srq->xrcd);
		free(srq->tags);
		event_purge(o->async, o);
		break;
	}
	case O_QP: {
		struct qp *qp = (struct qp *)o, **at = &sim_qps;
		while (*at != qp)
			at = &(*at)->next;
		*at = qp->next;
		qp_ends(qp);
		efa_qp_ends(qp);
		unused(qp->pd ? &qp->pd->o : NULL);
		unused(qp->scq ? &qp->scq->o : NULL);
		unused(qp->rcq ? &qp->rcq->o : NULL);
		unused(qp->srq ? &qp->srq->o : NULL);
		unused(qp->xrcd);
		event_purge(o->async, qp);
		for (int i = 0; i < FLIGHTS; i++)
			free(qp->flights[i].data);
		break;
	}
	default:
		break;
	}
	object_forget(o);
	return 0;
}

struct context *sim_context_new(bool efa)
{
	struct context *ctx = calloc(1, sizeof(*ctx));
	ctx->descriptors = 1;
	ctx->efa = efa;
	pthread_mutex_lock(&sim_lock);
	ctx->next = sim_contexts;
	sim_contexts = ctx;
	pthread_mutex_unlock(&sim_lock);
	return ctx;
}

struct context *sim_context_open(struct context *ctx)
{
	pthread_mutex_lock(&sim_lock);
	ctx->descriptors++;
	pthread_mutex_unlock(&sim_lock);
	return ctx;
}

void sim_context_close(struct context *ctx)
{
	static const enum obj_type order[] = {O_OPENED, O_DEVX, O_UMEM, O_FLOW, O_ACTION, O_TABLE, O_WQ, O_QP, O_SRQ, O_CQ, O_MW, O_MR, O_AH, O_DM, O_XRCD, O_UAR, O_COUNTERS, O_PD};
	pthread_mutex_lock(&sim_lock);
	if (--ctx->descriptors) {
		pthread_mutex_unlock(&sim_lock);
		return;
	}
	for (unsigned int t = 0; t < sizeof(order) / sizeof(order[0]); t++)
		for (uint32_t i = 1; i < ctx->num_objs; i++)
			if (ctx->objs[i] && ctx->objs[i]->type == order[t]) {
				ctx->objs[i]->users = 0;
				object_destroy(ctx->objs[i]);
			}
	for (struct context **at = &sim_contexts; *at; at = &(*at)->next)
		if (*at == ctx) {
			*at = ctx->next;
			break;
		}
	free(ctx->objs);
	free(ctx);
	pthread_mutex_unlock(&sim_lock);
}

int object_destroy_by(struct context *ctx, struct ib_uverbs_ioctl_hdr *h, uint16_t id, enum obj_type type)
{
	struct obj *o = sim_obj(ctx, attr_in_number(h, id), type);
	return o ? object_destroy(o) : EINVAL;
}
