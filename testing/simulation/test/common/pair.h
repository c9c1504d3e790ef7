/* Two connected queue pairs of one process, through unmodified libibverbs and libmlx5. */
#pragma once
#include "check.h"
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdlib.h>

extern struct ibv_context *ctx;
extern struct ibv_pd *pd;
extern char *buf; /* the first half is sent, the other one receives */
extern struct ibv_mr *mr;
enum { SIZE = 1 << 20, HALF = SIZE / 2 };

struct end { struct ibv_cq *cq; struct ibv_qp *qp; };

void open_device(void);
void close_device(void);

void to_init(struct ibv_qp *qp);
void connect_to(struct ibv_qp *qp, uint32_t qpn, int rnr_retry);
void make(struct end e[2], int sig_all, int rnr_retry, struct ibv_srq *srq, struct ibv_comp_channel *channel);
void drop(struct end e[2]);

void fill(char *at, int n, int seed);
void post_recv(struct ibv_qp *qp, uint64_t id, char *at, uint32_t n);
int post(struct ibv_qp *qp, uint64_t id, int opcode, char *at, uint32_t n, int flags, char *remote, uint32_t rkey,
	uint32_t imm);
struct ibv_wc wait_one(struct ibv_cq *cq);
