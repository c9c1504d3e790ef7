/*
 * A stand-in for libibverbs, librdmacm and a provider that supports every operation. Its functions succeed and record
 * what they are called with, as lines of a transcript. A test calls them once through the library, and once in C
 * through the headers (`cases/`), and compares the two transcripts.
 *
 * Functions that only query, and functions that free what they return (events, lists), are not recorded, unless a query has
 * arguments that a program chooses.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* Begins a line: the name of a function. */
void called(const char *function);

/* Adds an argument to the line. Pointers of objects are the same in Java and C, as both use the same objects. */
void number(const char *name, uint64_t value);

/* Adds bytes to the line: each group of four that is not zero, with its offset. */
void bytes(const char *name, const void *pointer, size_t size);

#define CALLED() called(__func__)
#define NUMBER(value) number(#value, (uint64_t)(value))
#define POINTER(value) number(#value, (uintptr_t)(value))
#define BYTES(value) bytes(#value, &(value), sizeof(value))

/* The transcript so far, which the next line of a new one overwrites. */
const char *transcript(void);
void forget(void);

/* The latest object of each kind. */
struct latest {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_pd *parent;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_dm *dm;
	struct ibv_cq *cq;
	struct ibv_cq *cq_before;
	struct ibv_cq_ex *cq_ex;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	struct ibv_xrcd *xrcd;
	struct ibv_td *td;
	struct ibv_flow *flow;
	struct ibv_flow_action *action;
	struct ibv_counters *counters;
};
extern struct latest latest;

/* Everything that a completion can carry; polls read what the kind of queue has. */
struct completion {
	struct ibv_wc wc;
	uint64_t timestamp;
	uint64_t wallclock;
	uint16_t vlan;
	uint32_t flow_tag;
	struct ibv_wc_tm_info tag;
};

/* Adds a completion to a queue. It raises an event if one was requested. */
void complete(struct ibv_cq *cq, const struct completion *completion);

/*
 * Adds the completion to the next queue that an event is requested of, just before the request takes effect: so it
 * raises none.
 */
void complete_before_notification(const struct completion *completion);

/* What the next call of a function that returns a number returns, once. */
void answer(int result);
int answered(void);

/*
 * What the next post does: it refuses the request of this index with this errno value, and reports which one it was, or
 * not. Once.
 */
void refuse(int index, int errnum, int tells_which);
int refuses(int index, int *tells_which);

/* Holds up all posts from now on, or lets them go on. */
void hold_posts(int hold);
void wait_while_held(void);

/* Sets the functions of the provider: called by the provider when it is loaded. */
extern void (*provider_init_context)(struct verbs_context *verbs);
extern void (*provider_init_qp)(struct ibv_qp_ex *qp);
extern void (*provider_init_cq)(struct ibv_cq_ex *cq);

void *create(size_t size);
struct ibv_cq *create_cq(struct ibv_context *context, struct ibv_comp_channel *channel, int cqe);
struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);
struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_attr *attr);
struct ibv_mr *create_mr(struct ibv_pd *pd, void *addr, size_t length);
int next_completion(struct ibv_cq *cq, struct completion *completion);
int request_event(struct ibv_cq *cq, int solicited_only);

#endif
