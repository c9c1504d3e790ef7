/*
 * The network between processes. Those whose MLX5SIM_NETWORK names the same directory are nodes of it: each has a number
 * and a socket whose name is made of the directory and the number. They send each other messages of the connection
 * manager, and requests with their data and the answers. Without a network, a process is alone and its number is 0.
 */
#pragma once
#include "../adapter/adapter.h"
#include <sys/uio.h>

#define MAX_NODES 63
#define NODE_SHIFT 18 /* in the number of a queue pair */

enum frame_kind { FRAME_CM, FRAME_REQUEST, FRAME_ANSWER };

/* nodes.c */
int wire_node(void);
bool wire_has_network(void);
bool wire_is_there(int node);
uint32_t wire_queue_pair_number(uint32_t number);
bool wire_send(int node, enum frame_kind kind, const struct iovec *parts, int n);
void wire_address(int node, void *address, unsigned int *length); /* a struct sockaddr_un */

/* frames.c */
struct incoming;
struct incoming *incoming_new(int fd);
int incoming_fd(struct incoming *in);
int incoming_node(struct incoming *in); /* -1 before the first frame */
bool incoming_read(struct incoming *in); /* false at the end */
void incoming_free(struct incoming *in);

struct frame {
	uint32_t kind, node;
	uint64_t size;
};

/* ports.c */
int ports_open(int directory);
void ports_clear(int node);
bool wire_claim_port(int space, uint16_t port);
void wire_listen_at_port(int space, uint16_t port);
void wire_release_port(int space, uint16_t port);
int wire_owner_of_port(int space, uint16_t port); /* a node, or -1 */

/* requests.c */
bool is_elsewhere(uint32_t qpn);
enum outcome execute_elsewhere(struct qp *qp, struct wqe *w);
bool window_went_ahead(struct qp *qp);
void datagram_elsewhere(struct qp *qp, struct wqe *w, const struct segs *data, uint32_t to);
void request_arrived(int node, const void *body, size_t size);
void answer_arrived(const void *body, size_t size);
void requests_lost(int node);

/* What the adapter does for a request of another process goes here instead of to a queue. */
int far_data(struct qp *qp, struct segs *segs);
void far_done(struct qp *qp, uint32_t length);
enum outcome far_failed(struct qp *qp, uint8_t syndrome);
enum outcome far_waits(struct qp *qp, bool receive, uint64_t delay);

/* cm/messages.c */
void cm_frame_arrived(const void *body, size_t size);
void cm_node_lost(int node);
