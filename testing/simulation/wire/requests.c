/*
 * Requests to queue pairs of other processes. The request goes there with its data, is carried out there like one of that
 * process, and the answer says how it ended. A queue pair has up to 32 such requests on their way, or as many as
 * MLX5SIM_WINDOW says. Changes of memory windows take their turn between them and wait for no answer, as in an adapter. If
 * a request is not carried out, those behind it are not either: their sender begins a new epoch, and the other side ignores
 * what remains of the old one.
 */
#include "../adapter/adapter.h"
#include "wire.h"

#define PAUSE_NS 1000000 /* before a request that the peer could not take is sent again */

struct far_request {
	uint32_t from, to, type, qkey, number;
	int32_t ds;
	uint32_t imm;
	uint16_t index;
	uint8_t opcode, flags;
	uint32_t epoch;
	uint64_t total; /* bytes that move; they follow, unless they are to be read */
};

/* A request of another process, while it is carried out here. */
struct far {
	char *data;
	uint64_t total;
	struct far_answer answer;
};

static int node_of(uint32_t qpn)
{
	return qpn >> NODE_SHIFT;
}

bool is_elsewhere(uint32_t qpn)
{
	return wire_has_network() && node_of(qpn) != wire_node();
}

static bool fetches(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_RDMA_READ || opcode == MLX5_OPCODE_ATOMIC_CS || opcode == MLX5_OPCODE_ATOMIC_FA;
}

static int header_size(uint8_t opcode)
{
	switch (opcode) {
	case MLX5_OPCODE_RDMA_WRITE:
	case MLX5_OPCODE_RDMA_WRITE_IMM:
	case MLX5_OPCODE_RDMA_READ: return 32;
	case MLX5_OPCODE_ATOMIC_CS:
	case MLX5_OPCODE_ATOMIC_FA: return 48;
	default: return 16;
	}
}

static bool send_request(struct qp *qp, struct wqe *w, const struct segs *data, uint32_t to, int node,
	uint32_t number)
{
	struct far_request r = {
		.from = qp->qpn, .to = to, .type = qp->type, .qkey = qp->attr.qkey, .number = number, .ds = w->ds,
		.imm = w->imm, .index = w->index, .opcode = w->opcode, .flags = w->flags, .epoch = qp->epoch,
		.total = data->total,
	};
	struct iovec parts[2 + MAX_SEGS] = {{&r, sizeof(r)}, {w->bytes, w->ds * 16}};
	int n = 2;
	if (!fetches(w->opcode))
		for (int i = 0; i < data->n; i++)
			parts[n++] = (struct iovec){data->s[i].at, data->s[i].length};
	return wire_send(node, FRAME_REQUEST, parts, n);
}

static int window(void)
{
	static int size;
	if (!size) {
		const char *set = getenv("MLX5SIM_WINDOW");
		size = set ? atoi(set) : FLIGHTS;
		size = size < 1 ? 1 : size > FLIGHTS ? FLIGHTS : size;
	}
	return size;
}

/* Sends a request; it waits for its answer behind those that are on their way. */
static bool take_off(struct qp *qp, struct wqe *w, const struct segs *data)
{
	struct flight *f = &qp->flights[(qp->first_flight + qp->num_flights) % FLIGHTS];
	f->answered = f->local = false;
	f->number = ++qp->flight_number;
	if (!send_request(qp, w, data, qp->attr.dest_qp_num, node_of(qp->attr.dest_qp_num), f->number))
		return false;
	qp->num_flights++;
	qp->next_ci = w->index + (w->ds + 3) / 4;
	return true;
}

/* The request behind those that are on their way. False if there is none, or it has to wait for them. */
static bool next_request(struct qp *qp, struct wqe *w)
{
	uint16_t posted = be32toh(atomic_load_explicit(&qp->db[1], memory_order_acquire)), first = qp->sq_ci;
	bool there;
	if (qp->state != IBV_QPS_RTS || qp->num_flights >= window() || qp->next_ci == posted)
		return false;
	qp->sq_ci = qp->next_ci;
	there = parse_request(qp, w);
	qp->sq_ci = first;
	return there && w->opcode != MLX5_OPCODE_TAG_MATCHING && !(w->flags & MLX5_WQE_CTRL_FENCE);
}

/*
 * Changes a memory window between the requests that are on their way. If those have to be sent again, it is not changed
 * again. False if it cannot be changed, or not yet.
 */
static bool change_ahead(struct qp *qp, struct wqe *w)
{
	struct flight *f = &qp->flights[(qp->first_flight + qp->num_flights) % FLIGHTS];
	int changed = 0;
	for (int i = 0; i < qp->num_flights; i++)
		changed += qp->flights[(qp->first_flight + i) % FLIGHTS].local;
	if (changed == qp->windows_ahead) {
		if (change_window(qp, w))
			return false;
		qp->windows_ahead++;
	}
	f->answered = f->local = true;
	qp->num_flights++;
	qp->next_ci = w->index + (w->ds + 3) / 4;
	return true;
}

/* Whether the change of a memory window that is the next request was done before. */
bool window_went_ahead(struct qp *qp)
{
	if (!qp->windows_ahead)
		return false;
	qp->windows_ahead--;
	if (qp->num_flights) {
		qp->first_flight = (qp->first_flight + 1) % FLIGHTS;
		qp->num_flights--;
	}
	return true;
}

/* Sends what need not wait for the requests that are on their way. */
static void send_ahead(struct qp *qp)
{
	struct wqe w;
	while (next_request(qp, &w)) {
		struct segs local = {.n = 0};
		uint32_t access = fetches(w.opcode) ? IBV_ACCESS_LOCAL_WRITE : 0;
		if (w.opcode == MLX5_OPCODE_UMR) {
			if (!change_ahead(qp, &w))
				return;
			continue;
		}
		if (gather(qp, &w, w.bytes + header_size(w.opcode), access, &local) || !take_off(qp, &w, &local))
			return; /* it fails once it is the first */
	}
}

static enum outcome finish(struct qp *qp, struct wqe *w, const struct segs *local, struct flight *f)
{
	struct segs from = {.n = 1, .total = f->answer.length, .s = {{f->data, f->answer.length}}};
	uint32_t length = f->answer.length;
	char bytes[32] = {0};
	bool scattered = length && length <= 32 && qp->scatter_cqe && qp->sig_all && qp->scq->cqe_size == 64;
	if (scattered)
		memcpy(bytes, f->data, length);
	else if (length)
		copy_segs(&from, local, length < local->total ? length : local->total);
	free(f->data);
	f->data = NULL;
	complete_request(qp, w, length, scattered ? bytes : NULL);
	return DONE;
}

enum outcome execute_elsewhere(struct qp *qp, struct wqe *w)
{
	struct flight *f = &qp->flights[qp->first_flight];
	struct segs local = {.n = 0};
	struct far_answer answer = {.kind = FAR_NOBODY};
	bool reliable = qp->type == IBV_QPT_RC;
	int error;
	if (qp->num_flights && !f->answered) {
		send_ahead(qp);
		return WAIT;
	}
	if (!qp->num_flights && qp->not_before > sim_now())
		return WAIT;
	error = gather(qp, w, w->bytes + header_size(w->opcode), fetches(w->opcode) ? IBV_ACCESS_LOCAL_WRITE : 0, &local);
	if (error)
		return fail_request(qp, w, error);
	if (!reliable) {
		send_request(qp, w, &local, qp->attr.dest_qp_num, node_of(qp->attr.dest_qp_num), 0);
		complete_request(qp, w, 0, NULL);
		return DONE;
	}
	if (qp->num_flights) {
		answer = f->answer;
	} else if (take_off(qp, w, &local)) {
		send_ahead(qp);
		return WAIT;
	}
	if (answer.kind == FAR_DONE) {
		qp->first_flight = (qp->first_flight + 1) % FLIGHTS;
		qp->num_flights--;
		qp->not_before = 0;
		return finish(qp, w, &local, f);
	}
	qp->num_flights = 0;
	qp->epoch++;
	qp->not_before = sim_now() + PAUSE_NS;
	switch (answer.kind) {
	case FAR_FAILED:
		qp->not_before = 0;
		return fail_request(qp, w, answer.syndrome);
	case FAR_NO_RECEIVE:
		return wait_for(qp, w, true, answer.delay, qp->attr.rnr_retry, qp->attr.rnr_retry == 7,
			MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
	default:
		return wait_for(qp, w, false, 4096ull << (qp->attr.timeout ? qp->attr.timeout : 31), qp->attr.retry_cnt,
			!qp->attr.timeout, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	}
}

/* To the queue pair, or for a group to all nodes. */
void datagram_elsewhere(struct qp *qp, struct wqe *w, const struct segs *data, uint32_t to)
{
	if (to != 0xffffff) {
		send_request(qp, w, data, to, node_of(to), 0);
		return;
	}
	for (int node = 0; node < MAX_NODES; node++)
		if (node != wire_node())
			send_request(qp, w, data, to, node, 0);
}

/* ---- the other side ---- */

int far_data(struct qp *qp, struct segs *segs)
{
	struct far *f = qp->far;
	for (uint64_t at = 0; at < f->total; at += 1u << 30) {
		uint64_t left = f->total - at;
		if (segs->n == MAX_SEGS)
			return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
		segs->s[segs->n++] = (struct seg){f->data + at, left < 1u << 30 ? left : 1u << 30};
	}
	segs->total += f->total;
	return 0;
}

void far_done(struct qp *qp, uint32_t length)
{
	qp->far->answer.kind = FAR_DONE;
	qp->far->answer.length = length;
}

enum outcome far_failed(struct qp *qp, uint8_t syndrome)
{
	qp->far->answer.kind = FAR_FAILED;
	qp->far->answer.syndrome = syndrome;
	return FAILED;
}

enum outcome far_waits(struct qp *qp, bool receive, uint64_t delay)
{
	qp->far->answer.kind = receive ? FAR_NO_RECEIVE : FAR_NOBODY;
	qp->far->answer.delay = delay;
	return WAIT;
}

void request_arrived(int node, const void *body, size_t size)
{
	const struct far_request *r = body;
	const uint8_t *bytes = (const uint8_t *)(r + 1);
	struct far far = {.total = r->total, .answer = {.to = r->from, .number = r->number, .kind = FAR_NOBODY}};
	struct qp from = {.qpn = r->from, .type = r->type, .state = IBV_QPS_RTS, .far = &far,
		.attr = {.dest_qp_num = r->to, .qkey = r->qkey}};
	struct wqe w = {.ds = r->ds, .opcode = r->opcode, .flags = r->flags, .index = r->index, .imm = r->imm};
	struct iovec parts[2] = {{&far.answer, sizeof(far.answer)}};
	struct qp *to;
	if (size < sizeof(*r) || r->ds * 16u > sizeof(w.bytes))
		return;
	memcpy(w.bytes, bytes, r->ds * 16);
	w.end = w.bytes + r->ds * 16;
	far.data = fetches(r->opcode) ? malloc(r->total + 1) : (char *)bytes + r->ds * 16;
	pthread_mutex_lock(&sim_lock);
	to = r->type == IBV_QPT_RC ? peer_of(r->to) : NULL;
	if (!to || to->refused_epoch != r->epoch + 1)
		execute(&from, &w);
	if (to && far.answer.kind != FAR_DONE)
		to->refused_epoch = r->epoch + 1;
	parts[1] = (struct iovec){far.data, fetches(r->opcode) ? far.answer.length : 0};
	if (!fetches(r->opcode))
		far.answer.length = 0;
	if (r->type == IBV_QPT_RC) /* before the program's answer to the message can leave */
		wire_send(node, FRAME_ANSWER, parts, 2);
	pthread_mutex_unlock(&sim_lock);
	if (fetches(r->opcode))
		free(far.data);
}

void answer_arrived(const void *body, size_t size)
{
	const struct far_answer *a = body;
	struct qp *qp;
	if (size < sizeof(*a))
		return;
	pthread_mutex_lock(&sim_lock);
	qp = peer_of(a->to);
	for (int i = 0; qp && i < qp->num_flights; i++) {
		struct flight *f = &qp->flights[(qp->first_flight + i) % FLIGHTS];
		if (f->answered || f->number != a->number)
			continue;
		f->answer = *a;
		free(f->data);
		f->data = malloc(a->length + 1);
		memcpy(f->data, a + 1, a->length);
		f->answered = true;
	}
	pthread_mutex_unlock(&sim_lock);
}

/* The node has ended, so nobody will answer. */
void requests_lost(int node)
{
	pthread_mutex_lock(&sim_lock);
	for (struct qp *qp = sim_qps; qp; qp = qp->next)
		for (int i = 0; i < qp->num_flights && node_of(qp->attr.dest_qp_num) == node; i++) {
			struct flight *f = &qp->flights[(qp->first_flight + i) % FLIGHTS];
			if (!f->answered) {
				f->answer.kind = FAR_NOBODY;
				f->answered = true;
			}
		}
	pthread_mutex_unlock(&sim_lock);
}
