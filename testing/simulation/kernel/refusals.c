/*
 * Calls of the program that fail as a test chooses: commands, reads of events, mappings, and, of the devices that the test
 * names, the functions that need no kernel: posts and requests for events. A refused call has no effect.
 */
#include "kernel.h"

#define MAX_DEVICES 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls, chosen = -1;
static unsigned one_in, random_state;
static int error_of_calls, error_of_polls;
static char names[4096];
static size_t names_length;
static struct device {
	struct ibv_context *context;
	struct ibv_context_ops ops;
} devices[MAX_DEVICES];

/* Not at random: an object that cannot be ended stays with all its effects. */
static bool is_end(const char *kind)
{
	return !strncmp(kind, "end of ", 7);
}

static bool is_chosen(const char *kind)
{
	if (one_in) {
		if (is_end(kind))
			return false;
		random_state = random_state * 1664525 + 1013904223;
		return (random_state >> 8) % one_in == 0;
	}
	return calls == chosen;
}

/* The error with which the call fails, or 0. */
int refusal(const char *kind, unsigned object, unsigned method)
{
	int error = 0;
	if (!error_of_calls)
		return 0;
	pthread_mutex_lock(&lock);
	if (error_of_calls && is_chosen(kind)) {
		error = error_of_calls;
		if (names_length < sizeof(names))
			names_length += snprintf(names + names_length, sizeof(names) - names_length, "%s %x %x; ", kind, object, method);
	}
	calls++;
	pthread_mutex_unlock(&lock);
	return error;
}

#define METHOD(object, method) ((object) << 16 | (method))

/* The error with which a command of the device fails, or 0. An object whose end is refused stays. */
int refusal_of_command(struct ib_uverbs_ioctl_hdr *h)
{
	switch (METHOD(h->object_id, h->method_id)) {
	case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE):
		return refusal("write command", attr_in_number(h, UVERBS_ATTR_WRITE_CMD), 0);
	case METHOD(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY):
	case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY):
	case METHOD(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY):
	case METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY):
	case METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY):
	case METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY):
	case METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY):
		return refusal("end of object", h->object_id, 0);
	default:
		return refusal("object and method", h->object_id, h->method_id);
	}
}

static void choose(long call, unsigned often, unsigned seed, int error)
{
	pthread_mutex_lock(&lock);
	calls = 0;
	chosen = call;
	one_in = often;
	random_state = seed;
	names[0] = 0;
	names_length = 0;
	error_of_calls = error;
	pthread_mutex_unlock(&lock);
}

/* From now on, calls are counted from 0, and that one fails. */
EXPORT void mlx5sim_refuse(long call, int error)
{
	choose(call, 0, 0, error);
}

/* From now on, one of so many calls fails, at random, but no end of an object. */
EXPORT void mlx5sim_refuse_some(unsigned often, unsigned seed, int error)
{
	choose(-1, often, seed, error);
}

/* No call fails any more. Returns how many were counted. */
EXPORT long mlx5sim_refuse_none(void)
{
	long counted = calls;
	pthread_mutex_lock(&lock);
	error_of_calls = 0;
	pthread_mutex_unlock(&lock);
	return counted;
}

/* Which calls have failed since then. */
EXPORT const char *mlx5sim_refused(void)
{
	return names;
}

/* The next poll of a named device fails. */
EXPORT void mlx5sim_refuse_poll(int error)
{
	error_of_polls = error;
}

static const struct ibv_context_ops *ops_of(struct ibv_context *context)
{
	for (int i = 0; i < MAX_DEVICES; i++)
		if (devices[i].context == context)
			return &devices[i].ops;
	abort();
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = refusal("post_send", 0, 0);
	return error ? *bad = wr, error : ops_of(qp->context)->post_send(qp, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = refusal("post_recv", 0, 0);
	return error ? *bad = wr, error : ops_of(qp->context)->post_recv(qp, wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = refusal("post_srq_recv", 0, 0);
	return error ? *bad = wr, error : ops_of(srq->context)->post_srq_recv(srq, wr, bad);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	int error = refusal("req_notify_cq", 0, 0);
	return error ? error : ops_of(cq->context)->req_notify_cq(cq, solicited);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int error = error_of_polls;
	if (error) {
		error_of_polls = 0;
		return -error;
	}
	return ops_of(cq->context)->poll_cq(cq, n, wc);
}

/* Names a device whose posts, polls and requests for events can fail, too. */
EXPORT bool mlx5sim_refuse_in(struct ibv_context *context)
{
	for (int i = 0; i < MAX_DEVICES; i++)
		if (!devices[i].context) {
			devices[i] = (struct device){context, context->ops};
			context->ops.post_send = post_send;
			context->ops.post_recv = post_recv;
			context->ops.post_srq_recv = post_srq_recv;
			context->ops.req_notify_cq = req_notify_cq;
			context->ops.poll_cq = poll_cq;
			return true;
		} else if (devices[i].context == context) {
			return true;
		}
	return false;
}
