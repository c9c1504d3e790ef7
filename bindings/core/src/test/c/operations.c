/*
 * Stand-ins for the functions of a provider, and functions that call them through the inline functions of verbs.h.
 * Each stand-in records a number that identifies it, then its arguments.
 */
#include <errno.h>
#include <string.h>
#include "stand_in.h"

extern uint64_t arguments[6];

#define RECORD(...)                                                                                \
	do {                                                                                       \
		uint64_t recorded[6] = {__COUNTER__ + 1, __VA_ARGS__};                             \
		memcpy(arguments, recorded, sizeof(arguments));                                    \
	} while (0)
#define P(argument) ((uintptr_t)(argument))

/* What operations that create something return, which must not be dereferenced, and their errno. */
#define CREATED ((void *)0x5150)

#define CREATES(op, type, parent)                                                                  \
	static type *record_##op(struct parent *a, void *b)                                       \
	{                                                                                          \
		RECORD(P(a), P(b));                                                                \
		errno = 1234;                                                                      \
		return CREATED;                                                                    \
	}
#define TAKES_ONE(op, type)                                                                        \
	static int record_##op(struct type *a)                                                     \
	{                                                                                          \
		RECORD(P(a));                                                                      \
		return 1001;                                                                       \
	}
#define TAKES_TWO(op, type)                                                                        \
	static int record_##op(struct type *a, void *b)                                            \
	{                                                                                          \
		RECORD(P(a), P(b));                                                                \
		return 1002;                                                                       \
	}
#define TAKES_THREE(op, type)                                                                      \
	static int record_##op(struct type *a, void *b, void *c)                                   \
	{                                                                                          \
		RECORD(P(a), P(b), P(c));                                                          \
		return 1003;                                                                       \
	}

CREATES(ibv_create_flow, struct ibv_flow, ibv_qp)
CREATES(create_flow_action_esp, struct ibv_flow_action, ibv_context)
CREATES(open_xrcd, struct ibv_xrcd, ibv_context)
CREATES(create_cq_ex, struct ibv_cq_ex, ibv_context)
CREATES(create_srq_ex, struct ibv_srq, ibv_context)
CREATES(create_qp_ex, struct ibv_qp, ibv_context)
CREATES(alloc_td, struct ibv_td, ibv_context)
CREATES(alloc_parent_domain, struct ibv_pd, ibv_context)
CREATES(open_qp, struct ibv_qp, ibv_context)
CREATES(create_rwq_ind_table, struct ibv_rwq_ind_table, ibv_context)
CREATES(create_counters, struct ibv_counters, ibv_context)
TAKES_ONE(ibv_destroy_flow, ibv_flow)
TAKES_ONE(destroy_flow_action, ibv_flow_action)
TAKES_ONE(close_xrcd, ibv_xrcd)
TAKES_ONE(dealloc_td, ibv_td)
TAKES_ONE(destroy_wq, ibv_wq)
TAKES_ONE(destroy_rwq_ind_table, ibv_rwq_ind_table)
TAKES_ONE(destroy_counters, ibv_counters)
TAKES_TWO(modify_flow_action_esp, ibv_flow_action)
TAKES_TWO(modify_cq, ibv_cq)
TAKES_TWO(get_srq_num, ibv_srq)
TAKES_TWO(query_rt_values, ibv_context)
TAKES_TWO(modify_qp_rate_limit, ibv_qp)
TAKES_TWO(modify_wq, ibv_wq)
TAKES_THREE(post_srq_ops, ibv_srq)
TAKES_THREE(attach_counters_point_flow, ibv_counters)

static int record_read_counters(struct ibv_counters *a, uint64_t *b, uint32_t c, uint32_t d)
{
	RECORD(P(a), P(b), c, d);
	return 1004;
}

/* What the operation returns: a test sets it, to reach each branch of the caller. */
int query_device_ex_result;

static int record_query_device_ex(struct ibv_context *a, const struct ibv_query_device_ex_input *b,
				  struct ibv_device_attr_ex *c, size_t d)
{
	RECORD(P(a), P(b), P(c), d);
	return query_device_ex_result;
}

void set_query_device_ex_result(int result)
{
	query_device_ex_result = result;
}

static struct ibv_wq *record_create_wq(struct ibv_context *a, struct ibv_wq_init_attr *b)
{
	/* The memory is filled, because that from the malloc of a provider is not zero either. */
	static struct ibv_wq wq;

	RECORD(P(a), P(b));
	memset(&wq, 0xa5, sizeof(wq));
	errno = 1234;
	return b->max_wr ? &wq : NULL;
}

size_t size_of_wq(void)
{
	return sizeof(struct ibv_wq);
}

#define SET(op) extended->op = (void *)record_##op

void set_operations(struct ibv_context *context)
{
	struct verbs_context *extended = extended_of(context);

	extended->sz = sizeof(*extended);
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	SET(ibv_create_flow);
	SET(create_flow_action_esp);
	SET(open_xrcd);
	SET(create_cq_ex);
	SET(create_srq_ex);
	SET(create_qp_ex);
	SET(alloc_td);
	SET(alloc_parent_domain);
	SET(open_qp);
	SET(create_rwq_ind_table);
	SET(create_counters);
	SET(ibv_destroy_flow);
	SET(destroy_flow_action);
	SET(close_xrcd);
	SET(dealloc_td);
	SET(destroy_wq);
	SET(destroy_rwq_ind_table);
	SET(destroy_counters);
	SET(modify_flow_action_esp);
	SET(modify_cq);
	SET(get_srq_num);
	SET(query_rt_values);
	SET(modify_qp_rate_limit);
	SET(modify_wq);
	SET(post_srq_ops);
	SET(attach_counters_point_flow);
	SET(read_counters);
	SET(query_device_ex);
	SET(create_wq);
}

void *call_create_flow(void *a, void *b)
{
	return ibv_create_flow(a, b);
}

void *call_create_flow_action_esp(void *a, void *b)
{
	return ibv_create_flow_action_esp(a, b);
}

void *call_open_xrcd(void *a, void *b)
{
	return ibv_open_xrcd(a, b);
}

void *call_create_cq_ex(void *a, void *b)
{
	return ibv_create_cq_ex(a, b);
}

void *call_create_srq_ex(void *a, void *b)
{
	return ibv_create_srq_ex(a, b);
}

void *call_create_qp_ex(void *a, void *b)
{
	return ibv_create_qp_ex(a, b);
}

void *call_alloc_td(void *a, void *b)
{
	return ibv_alloc_td(a, b);
}

void *call_alloc_parent_domain(void *a, void *b)
{
	return ibv_alloc_parent_domain(a, b);
}

void *call_open_qp(void *a, void *b)
{
	return ibv_open_qp(a, b);
}

void *call_create_rwq_ind_table(void *a, void *b)
{
	return ibv_create_rwq_ind_table(a, b);
}

void *call_create_counters(void *a, void *b)
{
	return ibv_create_counters(a, b);
}

void *call_create_wq(void *a, void *b)
{
	return ibv_create_wq(a, b);
}

int call_destroy_flow(void *a)
{
	return ibv_destroy_flow(a);
}

int call_destroy_flow_action(void *a)
{
	return ibv_destroy_flow_action(a);
}

int call_close_xrcd(void *a)
{
	return ibv_close_xrcd(a);
}

int call_dealloc_td(void *a)
{
	return ibv_dealloc_td(a);
}

int call_destroy_wq(void *a)
{
	return ibv_destroy_wq(a);
}

int call_destroy_rwq_ind_table(void *a)
{
	return ibv_destroy_rwq_ind_table(a);
}

int call_destroy_counters(void *a)
{
	return ibv_destroy_counters(a);
}

int call_modify_flow_action_esp(void *a, void *b)
{
	return ibv_modify_flow_action_esp(a, b);
}

int call_modify_cq(void *a, void *b)
{
	return ibv_modify_cq(a, b);
}

int call_get_srq_num(void *a, void *b)
{
	return ibv_get_srq_num(a, b);
}

int call_query_rt_values_ex(void *a, void *b)
{
	return ibv_query_rt_values_ex(a, b);
}

int call_modify_qp_rate_limit(void *a, void *b)
{
	return ibv_modify_qp_rate_limit(a, b);
}

int call_modify_wq(void *a, void *b)
{
	return ibv_modify_wq(a, b);
}

int call_post_srq_ops(void *a, void *b, void *c)
{
	return ibv_post_srq_ops(a, b, c);
}

int call_attach_counters_point_flow(void *a, void *b, void *c)
{
	return ibv_attach_counters_point_flow(a, b, c);
}

int call_read_counters(void *a, void *b, uint64_t c, uint64_t d)
{
	return ibv_read_counters(a, b, c, d);
}

int call_query_device_ex(void *a, void *b, void *c)
{
	return ibv_query_device_ex(a, b, c);
}

int call_is_qpt_supported(uint64_t a, uint64_t b)
{
	return ibv_is_qpt_supported(a, b);
}

uint32_t call_inc_rkey(uint32_t rkey)
{
	return ibv_inc_rkey(rkey);
}

uint16_t call_flow_label_to_udp_sport(uint32_t fl)
{
	return ibv_flow_label_to_udp_sport(fl);
}

