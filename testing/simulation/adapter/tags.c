/*
 * Tag matching: a shared receive queue can have a list of buffers with tags. A message that begins with such a tag goes
 * to the first buffer that matches, without its header, and others take a receive. Operations on the list are requests of
 * a queue pair that libmlx5 has for it.
 */
#include "adapter.h"
#include <infiniband/tm_types.h>

/* As in libmlx5, whose headers keep them to themselves. */
enum { OP_NONE, OP_APPEND, OP_REMOVE };
enum { TELLS_COUNT = 1 << 6, WANTS_COMPLETION = 1 << 7 };
enum { APP_TAG_MATCHING = 1, APP_CONSUMED = 1, APP_EXPECTED = 2, APP_UNEXPECTED = 3, APP_NO_TAG = 4, APP_APPEND = 5,
	APP_REMOVE = 6, APP_NONE = 7, APP_CONSUMED_MESSAGE = 10 };

struct tagged {
	struct tagged *next; /* in the order in which they were appended */
	uint64_t tag, mask;
	struct mlx5_wqe_data_seg buffer;
	bool listed, enabled;
};

struct tag_list {
	struct tagged *first;
	uint32_t size;
	uint16_t place; /* of the next one to be appended */
	uint16_t unexpected, known; /* messages that matched none; how many of them the program has polled, as it says */
	struct tagged places[];
};

struct tag_list *tag_list_new(uint32_t max)
{
	struct tag_list *l = calloc(1, sizeof(*l) + (max + 1) * sizeof(*l->places));
	l->size = max + 1; /* one is always free: it is where the next goes */
	return l;
}

static struct tag_list *list_of(struct qp *qp)
{
	return qp->srq ? qp->srq->tags : NULL;
}

static void unlist(struct tag_list *l, struct tagged *t)
{
	struct tagged **at = &l->first;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	t->listed = false;
}

/*
 * A message that matched no buffer may be one for which the program appends a buffer at the same time. So new buffers
 * match nothing until the program has told that it knows of all such messages.
 */
static void told(struct tag_list *l, uint16_t known)
{
	l->known = known;
	if (l->known == l->unexpected)
		for (struct tagged *t = l->first; t; t = t->next)
			t->enabled = true;
}

static void append(struct tag_list *l, struct mlx5_wqe_tm_seg *seg)
{
	struct tagged *t = &l->places[l->place], **at = &l->first;
	*t = (struct tagged){.tag = be64toh(seg->append_tag), .mask = be64toh(seg->append_mask), .listed = true,
		.enabled = l->known == l->unexpected};
	memcpy(&t->buffer, seg + 1, sizeof(t->buffer));
	while (*at)
		at = &(*at)->next;
	*at = t;
	l->place = be16toh(seg->index);
}

static void put_operation(struct srq *srq, int app_op, bool success)
{
	struct mlx5_cqe64 cqe = {.srqn_uidx = htobe32(srq->uidx), .app = APP_TAG_MATCHING, .app_op = app_op};
	cqe.tm_cqe.success = htobe32(success ? MLX5_TMC_SUCCESS : 0);
	cqe.tm_cqe.hw_phase_cnt = htobe16(srq->tags->unexpected);
	put_cqe(srq->cq, &cqe, MLX5_CQE_NO_PACKET, 0, false);
}

enum outcome change_tags(struct qp *qp, struct wqe *w)
{
	struct mlx5_wqe_tm_seg *seg = (void *)(w->bytes + 16);
	struct tag_list *l = list_of(qp);
	uint16_t index = be16toh(seg->index);
	bool success = true;
	int app_op = APP_NONE;
	if (!l || index >= l->size)
		return fail_request(qp, w, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	if (seg->flags & TELLS_COUNT)
		told(l, be16toh(seg->sw_cnt));
	switch (seg->opcode >> 4) {
	case OP_APPEND:
		app_op = APP_APPEND;
		append(l, seg);
		break;
	case OP_REMOVE:
		app_op = APP_REMOVE;
		success = l->places[index].listed;
		if (success)
			unlist(l, &l->places[index]);
		break;
	default:
		break;
	}
	complete_request(qp, w, 0, NULL);
	if (seg->flags & WANTS_COMPLETION)
		put_operation(qp->srq, app_op, success);
	return DONE;
}

static struct ibv_tmh header_of(const struct segs *data)
{
	struct ibv_tmh header = {0};
	struct segs to = {.n = 1, .total = sizeof(header), .s = {{(char *)&header, sizeof(header)}}};
	if (data->total >= sizeof(header))
		copy_segs(data, &to, sizeof(header));
	return header;
}

/* The buffer that a message goes to, or NULL. */
struct tagged *tagged_for(struct qp *peer, const struct segs *data)
{
	struct tag_list *l = list_of(peer);
	struct ibv_tmh header;
	if (!l)
		return NULL;
	header = header_of(data);
	if (header.opcode == IBV_TMH_EAGER)
		for (struct tagged *t = l->first; t; t = t->next)
			if (t->enabled && !((t->tag ^ be64toh(header.tag)) & t->mask))
				return t;
	return NULL;
}

static struct segs without_header(const struct segs *data)
{
	struct segs rest = {.total = data->total - sizeof(struct ibv_tmh)};
	uint32_t skip = sizeof(struct ibv_tmh);
	for (int i = 0; i < data->n; i++) {
		uint32_t n = skip < data->s[i].length ? skip : data->s[i].length;
		skip -= n;
		rest.s[rest.n++] = (struct seg){data->s[i].at ? data->s[i].at + n : NULL, data->s[i].length - n};
	}
	return rest;
}

/* If it takes several packets, the match is reported when the first one comes, and the data with the last. */
enum outcome deliver_tagged(struct qp *qp, struct wqe *w, struct qp *peer, struct tagged *t, const struct segs *data)
{
	struct srq *srq = peer->srq;
	struct segs from = without_header(data), to = {.n = 0};
	struct mlx5_cqe64 cqe = {.tmh = header_of(data)};
	bool with_imm = w->opcode == MLX5_OPCODE_SEND_IMM, solicited = w->flags & MLX5_WQE_CTRL_SOLICITED;
	bool several = data->total > 128u << peer->attr.path_mtu;
	uint32_t room = be32toh(t->buffer.byte_count);
	unlist(srq->tags, t);
	if (room < from.total || (room && add_seg(&to, srq->pd, be32toh(t->buffer.lkey), be64toh(t->buffer.addr), room,
			IBV_ACCESS_LOCAL_WRITE, 0))) {
		responder_error(peer, IBV_EVENT_QP_REQ_ERR);
		return fail_request(qp, w, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	}
	copy_segs(&from, &to, from.total);
	cqe.flags_rqpn = htobe32(qp->qpn);
	cqe.srqn_uidx = htobe32(srq->uidx);
	cqe.imm_inval_pkey = w->imm;
	cqe.app = APP_TAG_MATCHING;
	cqe.app_op = several ? APP_CONSUMED : APP_CONSUMED_MESSAGE;
	cqe.app_info = htobe16(t - srq->tags->places);
	cqe.byte_cnt = htobe32(from.total);
	cqe.sop_drop_qpn = htobe32(peer->qpn);
	if (several) {
		put_cqe(srq->cq, &cqe, MLX5_CQE_NO_PACKET, 0, false);
		cqe.tmh = (struct ibv_tmh){0};
		cqe.app_op = APP_EXPECTED;
	}
	put_cqe(srq->cq, &cqe, with_imm ? MLX5_CQE_RESP_SEND_IMM : MLX5_CQE_RESP_SEND, 0, solicited);
	return DONE;
}

/* Marks the completion of a message that takes a receive of a queue with tags. */
void mark_untagged(struct qp *peer, struct receive *r, const struct segs *data)
{
	int op = header_of(data).opcode;
	r->app = APP_TAG_MATCHING;
	r->app_op = APP_NO_TAG;
	if (op == IBV_TMH_EAGER || op == IBV_TMH_RNDV) {
		r->app_op = APP_UNEXPECTED;
		list_of(peer)->unexpected++;
	}
}
