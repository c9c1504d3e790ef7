/* What the files of the simulated adapter need of each other. */
#pragma once
#include "../sim.h"

#define MAX_SEGS 64
#define GRH_BYTES 40

enum outcome { DONE, WAIT, FAILED };

struct seg { char *at; uint32_t length; };
struct segs { struct seg s[MAX_SEGS]; int n; uint64_t total; };
struct receive { struct segs segs; uint16_t index; uint8_t app, app_op; bool bad; };

/* One send request, made contiguous. */
struct wqe {
	uint8_t bytes[1024];
	uint8_t *end;
	uint8_t opcode, flags;
	uint16_t index;
	uint32_t imm; /* as it is in memory */
	int ds;
};

extern bool sim_sink;

/* clock.c */
uint64_t sim_now(void);
uint64_t clock_cycles(void);
void clock_tick(void);

/* completions.c */
void check_armed(struct cq *cq);
void put_cqe(struct cq *cq, struct mlx5_cqe64 *cqe, int opcode, int flags, bool solicited);
void put_error(struct qp *qp, struct cq *cq, int opcode, uint16_t wqe_counter, uint8_t wqe_opcode, uint8_t syndrome);

/* pieces.c */
int add_seg(struct segs *segs, struct pd *pd, uint32_t key, uint64_t addr, uint32_t length, uint32_t access, uint32_t qpn);
void copy_segs(const struct segs *from, const struct segs *to, uint64_t total);
int gather(struct qp *qp, struct wqe *w, uint8_t *seg, uint32_t access, struct segs *segs);

/* receives.c */
struct cq *receive_cq(struct qp *qp);
bool has_receive(struct qp *qp);
void take_receive(struct qp *qp, struct receive *r);
void put_receive(struct qp *qp, struct receive *r, struct qp *from, int opcode, uint32_t imm, uint32_t length, int flags,
	const void *scattered, bool solicited);

/* requests.c */
void to_error(struct qp *qp);
void responder_error(struct qp *qp, enum ibv_event_type event);
bool parse_request(struct qp *qp, struct wqe *w);
void complete_request(struct qp *qp, struct wqe *w, uint32_t length, const void *scattered);
enum outcome fail_request(struct qp *qp, struct wqe *w, uint8_t syndrome);
enum outcome wait_for(struct qp *qp, struct wqe *w, bool receive, uint64_t delay, int limit, bool infinite,
	uint8_t syndrome);
extern const uint32_t rnr_delay[32];
struct qp *peer_of(uint32_t qpn);

/* tags.c */
enum outcome change_tags(struct qp *qp, struct wqe *w);
struct tagged *tagged_for(struct qp *peer, const struct segs *data);
enum outcome deliver_tagged(struct qp *qp, struct wqe *w, struct qp *peer, struct tagged *t, const struct segs *data);
void mark_untagged(struct qp *peer, struct receive *r, const struct segs *data);

/* faults.c */
bool not_yet(struct qp *qp);
int chosen_fault(struct qp *qp);

/* transfers.c, datagrams.c, windows.c */
bool receives(struct qp *qp);
enum outcome deliver(struct qp *qp, struct wqe *w, struct qp *peer, struct segs *data, bool with_imm);
bool can_take(struct qp *peer, struct wqe *w, const struct segs *data);
enum outcome execute(struct qp *qp, struct wqe *w);
void datagram_header(struct wqe *w, uint32_t length, char grh[GRH_BYTES]);
enum outcome execute_ud(struct qp *qp, struct wqe *w);
int change_window(struct qp *qp, struct wqe *w);
enum outcome bind_window(struct qp *qp, struct wqe *w);
