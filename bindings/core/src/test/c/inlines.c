/* Functions that the tests of the inlines call, and functions that they compare with. */
#include <errno.h>
#include <string.h>
#include "stand_in.h"

/* The arguments of the last recorded call, each extended to 64 bits according to its C type. */
uint64_t arguments[6];

#define RECORD(...)                                                                                \
	do {                                                                                       \
		uint64_t recorded[6] = {__VA_ARGS__};                                              \
		memcpy(arguments, recorded, sizeof(arguments));                                    \
	} while (0)
#define POINTER(argument) ((uintptr_t)(argument))

/* One function for each shape of Calls. Each sets an errno that identifies it. */
void *pointer_of_pointer(void *first)
{
	RECORD(POINTER(first));
	errno = 1001;
	return first;
}

void *pointer_of_two_pointers(void *first, void *second)
{
	RECORD(POINTER(first), POINTER(second));
	errno = 1002;
	return second;
}

void *create_cq(void *first, int second, void *third, void *fourth, int fifth)
{
	RECORD(POINTER(first), second, POINTER(third), POINTER(fourth), fifth);
	errno = 1003;
	return third;
}

int write_event(void *first, int second, int third, uint64_t fourth)
{
	RECORD(POINTER(first), second, third, fourth);
	errno = 1101;
	return -7;
}

int command(void *first, const void *second, size_t third, void *fourth, size_t fifth)
{
	RECORD(POINTER(first), POINTER(second), third, POINTER(fourth), fifth);
	errno = 1102;
	return -8;
}

void *creation(void *first, const void *second, size_t third, void *fourth, size_t fifth)
{
	RECORD(POINTER(first), POINTER(second), third, POINTER(fourth), fifth);
	errno = 1103;
	return fourth;
}

void *reg_mr(void *first, void *second, size_t third, int fourth)
{
	RECORD(POINTER(first), POINTER(second), third, fourth);
	errno = 1004;
	return second;
}

void *reg_mr_iova2(void *first, void *second, size_t third, uint64_t fourth, unsigned int fifth)
{
	RECORD(POINTER(first), POINTER(second), third, fourth, fifth);
	errno = 1005;
	return second;
}

void *pointer_of_int(int first)
{
	RECORD(first);
	errno = 1008;
	return (void *)0x77;
}

void *pointer_of_pointer_and_int(void *first, uint32_t second)
{
	RECORD(POINTER(first), second);
	errno = 1009;
	return first;
}

int int_of_pointer(void *first)
{
	RECORD(POINTER(first));
	errno = 1010;
	return -10;
}

int int_of_two_pointers(void *first, void *second)
{
	RECORD(POINTER(first), POINTER(second));
	errno = 1011;
	return -11;
}

int int_of_three_pointers(void *first, void *second, void *third)
{
	RECORD(POINTER(first), POINTER(second), POINTER(third));
	errno = 1006;
	return -6;
}

int query_gid(void *first, uint8_t second, int third, void *fourth)
{
	RECORD(POINTER(first), second, third, POINTER(fourth));
	errno = 1007;
	return -7;
}

/* The macro takes the name of an operation. */
#define GET_CTX_OP(op)                                                                             \
	case offsetof(struct verbs_context, context) - offsetof(struct verbs_context, op):         \
		return context_of(verbs_get_ctx_op(context, op))

static struct ibv_context *context_of(struct verbs_context *extended)
{
	return extended ? &extended->context : NULL;
}

/* The operation is named by its distance to the context, which is the same in every version. */
struct ibv_context *get_ctx_op(struct ibv_context *context, size_t distance)
{
	switch (distance) {
		GET_CTX_OP(query_port);
		GET_CTX_OP(advise_mr);
		GET_CTX_OP(create_cq_ex);
		GET_CTX_OP(query_device_ex);
		GET_CTX_OP(close_xrcd);
	default:
		return (void *)-1;
	}
}

struct ibv_context *get_ctx(struct ibv_context *context)
{
	return context_of(verbs_get_ctx(context));
}

void set_abi(struct ibv_context *context, void *abi)
{
	context->abi_compat = abi;
}

static int record_query_port(struct ibv_context *context, uint8_t port_num,
			     struct ibv_port_attr *port_attr, size_t port_attr_len)
{
	RECORD(POINTER(context), port_num, POINTER(port_attr), port_attr_len);
	return EINVAL;
}

void set_query_port(struct ibv_context *context)
{
	struct verbs_context *extended = extended_of(context);

	extended->sz = sizeof(*extended);
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	extended->query_port = record_query_port;
}

int call_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr)
{
	return ibv_query_port(context, port_num, port_attr);
}

int record_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	RECORD(POINTER(qp), POINTER(wr), POINTER(bad_wr));
	return ENOMEM;
}

int record_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	RECORD(POINTER(qp), POINTER(wr), POINTER(bad_wr));
	return EINVAL;
}

int record_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	RECORD(POINTER(cq), num_entries, POINTER(wc));
	return -1;
}

int record_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	RECORD(POINTER(cq), solicited_only);
	return ENOSYS;
}

int record_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	RECORD(POINTER(srq), POINTER(wr), POINTER(bad_wr));
	return E2BIG;
}

int record_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	RECORD(POINTER(wq), POINTER(wr), POINTER(bad_wr));
	return ERANGE;
}

void set_wq_op(struct ibv_wq *wq)
{
	wq->post_recv = record_post_wq_recv;
}

void set_ops(struct ibv_context *context)
{
	context->ops.post_srq_recv = record_post_srq_recv;
	context->ops.post_send = record_post_send;
	context->ops.post_recv = record_post_recv;
	context->ops.poll_cq = record_poll_cq;
	context->ops.req_notify_cq = record_req_notify_cq;
}
