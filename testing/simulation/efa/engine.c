/* Carries out what libefa has written: sends, reads and writes, receives, and their completions. */
#include "efa.h"

enum { SEND = 0, READ = 1, WRITE = 2 };
enum { OF_SEND = 1, OF_RECEIVE = 2 }; /* in completions */
enum { PHASE = 1, HAS_IMMEDIATE = 0x10, IS_INLINE = 0x20, META = 0x80, FIRST_AND_LAST = 0xc };
enum { OK, FLUSHED = 1, BAD_OPERATION = 3, BAD_HANDLE = 4, BAD_KEY = 5, BAD_LENGTH = 6, BAD_ADDRESS = 7,
	BAD_PEER = 9, NOT_READY = 10, REMOTE_LENGTH = 11, BAD_STATUS = 12, UNKNOWN_PEER = 14 };
#define UNKNOWN_HANDLE 0xffff
#define RETRY_NS 10000000 /* for each time that a send may be repeated */

struct piece { uint32_t length, key, low, high; };
struct request {
	uint16_t id;
	uint8_t control, more_control;
	uint16_t to, length;
	uint32_t immediate;
	uint16_t handle, reserved;
	uint32_t qkey;
	uint8_t reserved2[12];
	union { struct piece pieces[2]; uint8_t bytes[INLINE_BYTES]; };
};
struct receive_piece { uint32_t low, high; uint16_t id, length; uint32_t key_and_flags; };
struct completion {
	uint16_t id;
	uint8_t status, flags;
	uint16_t qpn, length, handle, source;
	uint32_t immediate;
	union { uint8_t address[16]; uint16_t length_high; }; /* the latter of a write with immediate data */
};

static void put_completion(struct cq *cq, int part, struct completion *c)
{
	struct efa_cq *efa = cq->efa;
	uint32_t n = efa->written[part]++;
	char *at = efa->pages.at + ((uint64_t)part * efa->entries + (n & (efa->entries - 1))) * efa->entry_size;
	uint32_t first;
	c->flags |= !(n / efa->entries & 1);
	memcpy(at + 4, (char *)c + 4, efa->entry_size - 4);
	memcpy(&first, c, sizeof(first)); /* the word with the phase last */
	__atomic_store_n((uint32_t *)at, first, __ATOMIC_RELEASE);
}

static void complete_send(struct qp *qp, const struct request *r, int status, uint32_t length)
{
	struct completion c = {.id = r->id, .status = status, .flags = OF_SEND << 1 | (r->control & 0xf) << 4, .qpn = qp->qpn,
		.length = length};
	put_completion(qp->scq, SENDS, &c);
	qp->sq_ci++;
	qp->efa->since = 0;
}

static uint16_t posted(struct qp *qp, int which)
{
	return atomic_load_explicit((_Atomic uint32_t *)qp->efa->doorbells.at + which, memory_order_acquire);
}

static bool has_receives(struct qp *qp)
{
	return posted(qp, RECEIVES) != qp->rq_ci;
}

/* The pieces up to the last one of a receive. False if one is not registered. */
static bool take(struct qp *qp, struct segs *segs, uint16_t *id)
{
	bool good = true, first = true;
	uint32_t flags = 0;
	while (has_receives(qp) && !(flags & 1u << 31)) {
		struct receive_piece p = ((struct receive_piece *)qp->efa->receives.at)[qp->rq_ci++ & (qp->efa->num_receives - 1)];
		if (first)
			*id = p.id;
		first = false;
		flags = p.key_and_flags;
		if (p.length && add_seg(segs, qp->pd, flags & 0xffffff, (uint64_t)p.high << 32 | p.low, p.length,
				IBV_ACCESS_LOCAL_WRITE, 0))
			good = false;
	}
	return good;
}

static struct ah *handle(struct context *ctx, uint32_t number)
{
	return (struct ah *)sim_obj(ctx, number, O_AH);
}

/* The handle that the receiver has for the address of the sender, of which there is only one here. */
static uint16_t handle_of_sender(struct qp *qp)
{
	for (uint32_t i = 1; i < qp->o.ctx->num_objs; i++) {
		struct ah *ah = handle(qp->o.ctx, i);
		if (ah && ah->pd == qp->pd && !memcmp(ah->gid, sim_gids[0], 16))
			return i;
	}
	return UNKNOWN_HANDLE;
}

static struct qp *peer(uint32_t number, const struct ah *ah, bool reliable)
{
	for (struct qp *qp = sim_qps; qp; qp = qp->next)
		if (qp->efa && qp->qpn == number && qp->efa->reliable == reliable && !memcmp(ah->gid, sim_gids[0], 16))
			return receives(qp) ? qp : NULL;
	return NULL;
}

static int gather_send(struct qp *qp, struct request *r, struct segs *segs)
{
	if (r->control & IS_INLINE) {
		if (r->length > INLINE_BYTES)
			return BAD_LENGTH;
		segs->s[segs->n++] = (struct seg){(char *)r->bytes, r->length};
		segs->total = r->length;
		return OK;
	}
	if (r->length > 2)
		return BAD_LENGTH;
	for (int i = 0; i < r->length; i++) {
		struct piece *p = &r->pieces[i];
		if (p->length && add_seg(segs, qp->pd, p->key & 0xffffff, (uint64_t)p->high << 32 | p->low, p->length, 0, 0))
			return BAD_KEY;
	}
	return segs->total > EFA_MTU ? BAD_LENGTH : OK;
}

static int deliver_to(struct qp *qp, struct request *r, struct qp *to, const struct segs *data)
{
	struct segs room = {.n = 0}, all = {.n = 0};
	static char header[GRH_BYTES]; /* a datagram leaves room for one, and does not fill it */
	struct completion c = {.flags = OF_RECEIVE << 1 | (r->control & HAS_IMMEDIATE ? 8 : 0), .qpn = to->qpn,
		.handle = handle_of_sender(to), .source = qp->qpn, .immediate = r->immediate};
	bool good = take(to, &room, &c.id);
	if (!to->efa->reliable)
		all = (struct segs){.n = 1, .total = GRH_BYTES, .s = {{header, GRH_BYTES}}};
	for (int i = 0; i < data->n; i++)
		all.s[all.n++] = data->s[i];
	all.total += data->total;
	c.status = !good ? BAD_KEY : room.total < all.total ? BAD_LENGTH : OK;
	if (c.status == OK) {
		copy_segs(&all, &room, all.total);
		c.length = all.total;
	}
	if (to->rcq->efa->with_source && c.handle == UNKNOWN_HANDLE)
		memcpy(c.address, sim_gids[0], 16);
	put_completion(to->rcq, RECEIVES, &c);
	return c.status == OK ? OK : !good ? BAD_STATUS : REMOTE_LENGTH;
}

/* Whether a request has to wait for a receive; if it has waited long enough, not_ready is set. */
static bool waits(struct qp *qp, struct qp *to, bool *not_ready)
{
	uint64_t now = sim_now();
	if (has_receives(to))
		return false;
	qp->efa->since = qp->efa->since ? qp->efa->since : now;
	if (qp->attr.rnr_retry == 7 || now < qp->efa->since + (qp->attr.rnr_retry + 1) * (uint64_t)RETRY_NS)
		return true;
	*not_ready = true;
	return false;
}

/* Returns false if it has to wait. */
static bool send(struct qp *qp, struct request *r, const struct ah *ah)
{
	struct segs data = {.n = 0};
	struct qp *to = peer(r->to, ah, qp->efa->reliable);
	int status = gather_send(qp, r, &data);
	bool matches = to && to->attr.qkey == r->qkey, not_ready = false;
	if (status == OK && qp->efa->reliable && !matches)
		status = BAD_PEER;
	if (status == OK && qp->efa->reliable && waits(qp, to, &not_ready))
		return false;
	if (not_ready) {
		status = NOT_READY;
	} else if (status == OK && matches && has_receives(to)) {
		int answer = deliver_to(qp, r, to, &data);
		status = qp->efa->reliable ? answer : OK;
	}
	complete_send(qp, r, status, status == OK ? data.total : 0);
	return true;
}

static int check_transfer(struct qp *qp, struct request *r, struct qp *of)
{
	if (!qp->efa->reliable)
		return BAD_OPERATION;
	if (!of || of->attr.qkey != r->qkey)
		return BAD_PEER;
	if (handle_of_sender(of) == UNKNOWN_HANDLE)
		return UNKNOWN_PEER;
	if (r->control & IS_INLINE || r->length > 1 || (r->length && r->pieces[1].length != r->pieces[0].length)
	    || r->pieces[0].length > EFA_MAX_TRANSFER)
		return BAD_LENGTH;
	return OK;
}

/* A write with immediate data takes a receive, whose memory is not used. */
static void notify(struct qp *qp, struct request *r, struct qp *of)
{
	struct segs unused = {.n = 0};
	struct completion c = {.flags = OF_RECEIVE << 1 | 8 | WRITE << 4, .qpn = of->qpn, .length = r->pieces[0].length,
		.handle = handle_of_sender(of), .source = qp->qpn, .immediate = r->immediate,
		.length_high = r->pieces[0].length >> 16};
	take(of, &unused, &c.id);
	put_completion(of->rcq, RECEIVES, &c);
}

/* A read or a write. Returns false if it has to wait. */
static bool transfer(struct qp *qp, struct request *r, const struct ah *ah)
{
	bool is_read = (r->control & 0xf) == READ, notifies = r->control & HAS_IMMEDIATE, not_ready = false;
	struct piece *far = &r->pieces[0], *near = &r->pieces[1];
	struct segs remote = {.n = 0}, local = {.n = 0};
	struct qp *of = peer(r->to, ah, true);
	int status = check_transfer(qp, r, of);
	if (status == OK && r->length && far->length
	    && add_seg(&local, qp->pd, near->key & 0xffffff, (uint64_t)near->high << 32 | near->low, near->length,
		    is_read ? IBV_ACCESS_LOCAL_WRITE : 0, 0))
		status = BAD_KEY;
	if (status == OK && far->length
	    && add_seg(&remote, of->pd, far->key, (uint64_t)far->high << 32 | far->low, far->length,
		    is_read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE, 0))
		status = BAD_ADDRESS;
	if (status == OK && notifies && waits(qp, of, &not_ready))
		return false;
	if (not_ready)
		status = NOT_READY;
	if (status == OK) {
		copy_segs(is_read ? &remote : &local, is_read ? &local : &remote, remote.total);
		if (notifies)
			notify(qp, r, of);
	}
	complete_send(qp, r, status, 0);
	return true;
}

static int flush(struct qp *qp)
{
	struct segs unused;
	struct completion c = {.status = FLUSHED, .flags = OF_RECEIVE << 1, .qpn = qp->qpn};
	int done = 0;
	for (; posted(qp, SENDS) != qp->sq_ci; done++) {
		struct request *r = (struct request *)qp->efa->sends.at + (qp->sq_ci & (qp->efa->num_sends - 1));
		complete_send(qp, r, FLUSHED, 0);
	}
	for (; has_receives(qp); done++) {
		struct completion each = c;
		unused.n = 0;
		take(qp, &unused, &each.id);
		put_completion(qp->rcq, RECEIVES, &each);
	}
	return done;
}

int efa_serve(struct qp *qp)
{
	int done = 0;
	if (qp->state == IBV_QPS_ERR)
		return flush(qp);
	if (qp->state != IBV_QPS_RTS)
		return 0;
	for (; posted(qp, SENDS) != qp->sq_ci && done < 64; done++) {
		struct request r = ((struct request *)qp->efa->sends.at)[qp->sq_ci & (qp->efa->num_sends - 1)];
		struct ah *ah = handle(qp->o.ctx, r.handle);
		if ((r.control & META) == 0 || (r.more_control & FIRST_AND_LAST) != FIRST_AND_LAST || (r.control & 0xf) > WRITE)
			complete_send(qp, &r, BAD_OPERATION, 0);
		else if (!ah || ah->pd != qp->pd)
			complete_send(qp, &r, BAD_HANDLE, 0);
		else if (!((r.control & 0xf) == SEND ? send(qp, &r, ah) : transfer(qp, &r, ah)))
			break;
	}
	return done;
}
