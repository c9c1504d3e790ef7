/* A simulated mlx5 kernel driver and adapter in user space: what the kernel and the adapter share. */
#pragma once
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"))) /* for tests, and for what stands for a function of libc */
#define ARM_IDLE 0xffffffffu /* put into a CQ's arm record, which only the device reads */
#define MAX_LOG_TABLE 7 /* the most work queues of an indirection table, as a power of two */
#define LID 1 /* of the port, on InfiniBand */
#define DM_SIZE (128 << 10)
#define DUMP_FILL_MKEY 0x500 /* of the region that is no memory */

enum obj_type { O_NONE, O_PD, O_MR, O_MW, O_CQ, O_QP, O_SRQ, O_AH, O_XRCD, O_UAR, O_DM, O_COUNTERS, O_WQ, O_TABLE, O_FLOW, O_DEVX, O_UMEM, O_OPENED, O_ACTION };

struct obj {
	enum obj_type type;
	uint32_t handle;
	struct context *ctx;
	struct event_file *async; /* for the events of the object */
	int users; /* other objects that need this one */
};

/* The queue behind the file descriptor of a completion channel or of asynchronous events. */
struct event {
	struct event *next;
	const void *owner;
	uint32_t *reported;
	struct ib_uverbs_async_event_desc desc;
};
struct event_file {
	int fd; /* an eventfd that counts semaphores */
	size_t size;
	pthread_mutex_t lock;
	struct event *first, **last;
};

struct context {
	int descriptors; /* how many are open */
	struct obj **objs;
	uint32_t num_objs;
	struct event_file *async;
	struct mlx5_ib_alloc_ucontext_req_v2 request; /* of GET_CONTEXT */
	bool opened;
	bool efa; /* a device of EFA */
	struct context *next;
};

struct pd { struct obj o; uint32_t pdn; };

struct mkey { /* of a region or of a window */
	uint32_t key;
	uint32_t access;
	uint64_t iova, length;
	char *start;
	struct pd *pd;
	uint32_t qpn; /* of a type 2 window that is bound */
	struct mkey *region; /* that a window is bound to, or NULL */
	int windows; /* that are bound to a region */
	bool window, type2, bound, free;
};
struct mr { struct obj o; struct mkey *mk; struct obj *dm; uint64_t mapped; /* bytes of a DMA buffer */ };
struct mw { struct obj o; struct mkey *mk; };
struct dm { struct obj o; char *mem; uint64_t length; int memory; /* a descriptor */ };
struct ah { struct obj o; struct pd *pd; uint8_t gid[16]; };
struct simple { struct obj o; };
struct uar { struct obj o; uint64_t offset; uint32_t page; char *at; /* where it is mapped, or NULL */ };
struct wq { struct obj o; struct pd *pd; struct cq *cq; uint32_t state; };
struct wq_table { struct obj o; uint32_t size; struct obj *wqs[1 << MAX_LOG_TABLE]; };
struct flow { struct obj o; struct obj *qp; };
struct opened { struct obj o; struct qp *qp; /* NULL if its context has ended */ };
struct xrcd { struct obj o; uint64_t device, inode; /* of the file that names it, or 0 */ };

struct cq {
	struct obj o;
	uint32_t cqn, cqe, cqe_size;
	char *buf;
	_Atomic uint32_t *db; /* [0] consumer index, [1] arm */
	uint32_t pi;
	uint32_t solicited_pi;  /* after the last solicited completion */
	int fired_sn;
	uint64_t user;
	struct event_file *channel;
	uint32_t comp_reported, async_reported;
	bool ignore_overrun, overrun;
	struct efa_cq *efa; /* not NULL if it is one of EFA, which has no other fields of queues */
	struct cq *next;
};

struct srq {
	struct obj o;
	struct pd *pd;
	struct cq *cq; /* of a queue for XRC or with tags, else NULL */
	struct tag_list *tags; /* of a queue with tags, else NULL */
	struct obj *xrcd;
	struct srq *next;
	uint32_t srqn, uidx, max, shift, limit, head, user_max;
	uint16_t taken;
	char *buf;
	_Atomic uint32_t *db;
	uint64_t user;
	uint32_t async_reported;
};

/* How a request to a queue pair of another process ended: see wire/requests.c. */
struct far_answer {
	uint32_t to, number;
	enum { FAR_NOBODY, FAR_DONE, FAR_FAILED, FAR_NO_RECEIVE } kind;
	uint8_t syndrome;
	uint32_t length; /* of the data that follows */
	uint64_t delay;
};
struct flight {
	bool answered;
	bool local; /* it changes a memory window, which was done */
	uint32_t number;
	struct far_answer answer;
	char *data;
};
#define FLIGHTS 32

struct qp {
	struct obj o;
	struct flight flights[FLIGHTS]; /* a ring */
	int first_flight, num_flights;
	uint32_t flight_number;
	uint32_t epoch; /* of its requests to other processes: a new one after each that was not carried out */
	uint32_t refused_epoch; /* of the requests to it, plus 1: what follows one that was not carried out */
	int windows_ahead; /* changes of memory windows that were done before the requests ahead of them */
	uint16_t next_ci; /* the first request that is not on its way */
	uint64_t not_before; /* the next request is not sent */
	struct efa_qp *efa; /* not NULL if it is one of EFA, which has no other fields of queues */
	struct far *far; /* not NULL if this stands for a queue pair of another process */
	uint32_t qpn, uidx;
	int type;
	struct pd *pd; /* NULL, as both of the next, if it receives for XRC */
	struct cq *scq, *rcq;
	struct srq *srq;
	struct obj *xrcd;
	struct ib_uverbs_qp_cap cap;
	bool sig_all, scatter_cqe;
	char *sq, *rq;
	char *doorbells; /* the page of its registers, or NULL */
	uint32_t sq_cnt, rq_cnt, rq_shift;
	_Atomic uint32_t *db; /* [0] receives, [1] sends */
	uint16_t sq_ci, rq_ci;
	uint64_t user;
	uint32_t async_reported;
	bool established, last_wqe;
	int opened; /* how often it is open beside its first handle */
	bool closed; /* that one is closed, but others are open */
	enum ibv_qp_state state;
	struct ib_uverbs_modify_qp attr; /* what was set, whatever the masks */
	uint64_t wait_until; /* 0, or when to try again */
	int tries;
	bool waits_for_peer, waits_for_receive;
	int fault_after, fault_syndrome; /* that a test has asked for */
	uint64_t busy_until; /* if the adapter is slow */
	bool drain_event;
	uint16_t drain_until; /* in state SQD */
	uint8_t groups[8][16];
	int num_groups;
	struct qp *next;
};

extern pthread_mutex_t sim_lock;
extern struct cq *sim_cqs;
extern struct qp *sim_qps;
extern struct srq *sim_srqs;
extern struct context *sim_contexts;
extern int sim_trace;

/* kernel/event_file.c */
struct event_file *event_file_new(size_t size);
void event_push(struct event_file *f, const void *owner, uint32_t *reported, uint64_t element, uint32_t type);
void event_purge(struct event_file *f, const void *owner);
struct event_file *event_file_of(int fd);

/* kernel */
struct context *sim_context_new(bool efa);
struct context *sim_context_open(struct context *ctx); /* another descriptor of it */
void sim_context_close(struct context *ctx); /* one of its descriptors */
int sim_ioctl(struct context *ctx, struct ib_uverbs_ioctl_hdr *hdr);
struct obj *sim_obj(struct context *ctx, uint64_t handle, enum obj_type type);
struct mkey *mkey_at(uint32_t key);
struct mkey *mkey_find(uint32_t key);
void qp_async(struct qp *qp, enum ibv_event_type type);
int pin(uint64_t start, uint64_t length, uint32_t access);
struct dm *sim_dm_at(struct context *ctx, uint64_t offset);
void uar_mapped(struct context *ctx, uint64_t offset, void *at);

bool port_is_infiniband(void);
extern const uint64_t sim_node_guid; /* in network byte order */

/* efa */
bool efa_command(struct context *ctx, struct ib_uverbs_ioctl_hdr *h, int *error);
void *efa_map(uint64_t key, size_t length);
int efa_serve(struct qp *qp);
void efa_qp_reset(struct qp *qp);
void efa_qp_ends(struct qp *qp);
void efa_cq_ends(struct cq *cq);

/* cm */
int cm_open(int flags);
void cm_close(int fd);
int cm_count(void);
ssize_t cm_write(int fd, const void *buf, size_t length);

/* adapter */
void engine_start(void);
void engine_wake(void);
int mlx5sim_step(void);
void *clock_map(void);
void *clock_info_map(void);
bool port_down(void);
bool device_broken(void);
void unbind_window(struct mkey *window);
struct tag_list *tag_list_new(uint32_t max);
void engine_qp_reset(struct qp *qp);
void engine_serve(struct qp *qp);
extern const uint8_t sim_gids[][16];
extern const int sim_num_gids;

#define TRACE(...) do { if (sim_trace) fprintf(stderr, "mlx5sim: " __VA_ARGS__); } while (0)
