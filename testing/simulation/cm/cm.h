/*
 * The connection manager: what librdmacm sees of /dev/infiniband/rdma_cm, with the states of Linux's rdma_cm and ib_cm.
 * One lock protects all of it. What one side tells the other are messages, which are delivered when the lock is given
 * back, so that no handler runs inside another.
 */
#pragma once
#include <netinet/in.h>
#include <infiniband/ib.h>
#include "../sim.h"
#include <rdma/rdma_user_cm.h>

#define MAX_IDS 65536 /* librdmacm keeps them in a table of this size */
#define UDP_QKEY 0x01234567
#define PARTITION_KEY 0xffff
#define PACKET_LIFE_TIME 18 /* 4.096 us x 2^18, as Linux sets for RoCE */
#define ACK_TIMEOUT (PACKET_LIFE_TIME + 1)
#define HOP_LIMIT 64
#define LINK_NODE_SHIFT 48 /* in the number of a link */

/* The private data of each message, of which a request uses the first part for the addresses. */
#define ADDRESSES_SIZE 36
#define REQUEST_DATA 92
#define REPLY_DATA 196
#define REJECT_DATA 148
#define DATAGRAM_REQUEST_DATA 216
#define DATAGRAM_REPLY_DATA 136

enum cm_event_type {
	ADDRESS_RESOLVED, ADDRESS_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST, CONNECT_RESPONSE, CONNECT_ERROR,
	UNREACHABLE, REJECTED, ESTABLISHED, DISCONNECTED, DEVICE_REMOVAL, MULTICAST_JOIN, MULTICAST_ERROR, ADDRESS_CHANGE,
	TIMEWAIT_EXIT,
};

enum reason { NO_REASON, TIMED_OUT = 4, INVALID_SERVICE_ID = 8, CONSUMER_DEFINED = 28, VENDOR_OPTION_NOT_SUPPORTED = 35 };
enum datagram_status { DATAGRAM_SUCCESS, DATAGRAM_UNSUPPORTED, DATAGRAM_REJECT };

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ib ib;
	struct __kernel_sockaddr_storage storage;
};

/* What the program has done with an identifier. */
enum id_state { IDLE, BOUND, RESOLVING, RESOLVED, ROUTED, CONNECTING, DISCONNECTING, LISTENING };

/* What the messages with the peer have come to. */
enum link_state {
	LINK_NONE, LINK_IDLE, REQ_SENT, REQ_RECEIVED, REP_SENT, REP_RECEIVED, LINK_UP, DREQ_SENT, DREQ_RECEIVED, TIMEWAIT,
	LOOKUP_SENT, LOOKUP_RECEIVED,
};

struct message {
	enum message_type { REQ, REP, RTU, REJ, DREQ, DREP, LOOKUP, LOOKUP_REPLY } type;
	uint64_t from, to; /* links; to is 0 in a request, and only a node if the sender knows no more */
	uint16_t space;
	uint8_t qp_type, tos;
	union address source, destination; /* of a request */
	uint32_t qpn, psn, qkey, status;
	uint8_t responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count, srq;
	struct rdma_ucm_ece ece;
	uint8_t private_data[RDMA_MAX_PRIVATE_DATA];
	struct message *next;
};

struct cm_id {
	uint32_t handle;
	struct cm_file *file;
	struct cm_id *next_in_file, **prev_in_file;
	uint64_t uid; /* 0 until a request is accepted */
	uint32_t events_reported;
	int backlog;
	enum id_state state;
	uint16_t space;
	uint8_t qp_type;
	union address source, destination;
	bool has_device, has_path;
	struct ib_path_rec_data given_path; /* if flags are not 0 */

	uint16_t port, port_space;
	struct cm_id *next_on_port;
	bool owns_port, reuse_address, family_only, family_only_set;

	uint8_t tos, ack_timeout;
	bool ack_timeout_set;
	uint32_t qkey;

	enum link_state link;
	uint64_t link_number, peer; /* of the links of both sides; of the peer's, only the node until it has answered */
	uint32_t qpn, psn, remote_qpn, remote_psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count, srq;

	uint64_t due; /* when the timer runs out, or 0 */
	struct cm_id *next_timer, *prev_timer;
	struct group *groups;
};

struct group { /* a membership in a multicast group */
	uint32_t handle;
	struct cm_id *id;
	uint64_t uid;
	uint32_t events_reported;
	struct group *next;
};

struct cm_event {
	struct cm_event *next;
	struct cm_id *id;       /* counts it as reported */
	struct group *group;    /* counts it as well, or NULL */
	struct cm_id *request;  /* the identifier that a connection request brings, or NULL */
	struct rdma_ucm_event_resp body;
};

struct cm_file {
	int fd; /* an eventfd that is readable while there are events */
	struct cm_event *first, **last;
	struct cm_id *ids;
};

/* file.c */
void cm_enter(void);
void cm_leave(void);
struct cm_file *cm_file_of(int fd);
int cm_take_event(int fd, struct rdma_ucm_event_resp *to);
void cm_event(struct cm_id *id, enum cm_event_type type, int status);
void cm_event_with(struct cm_id *id, struct group *group, struct cm_id *request, const struct rdma_ucm_event_resp *body);
void cm_forget_events(struct cm_id *id, struct group *group);
void cm_move_events(struct cm_id *id, struct cm_file *to);

/* ids.c */
struct cm_id *cm_id_new(struct cm_file *file, uint64_t uid, uint16_t space, uint8_t qp_type);
struct cm_id *cm_id_at(uint32_t handle);
struct cm_id *cm_id_of_link(uint64_t link_number);
struct cm_id *cm_id_of_peer(uint64_t peer);
void cm_id_to_file(struct cm_id *id, struct cm_file *file);
uint32_t cm_id_destroy(struct cm_id *id);
struct cm_id *cm_listener(uint16_t space, const union address *to);

/* addresses.c */
size_t address_size(const union address *a);
bool address_is_any(const union address *a);
bool address_is_zero(const union address *a);
bool address_equal(const union address *a, const union address *b);
uint16_t address_port(const union address *a);
void address_set_port(union address *a, uint16_t port);
void address_gid(const union address *a, uint8_t *gid);
bool address_is_multicast(const union address *a);
int gid_index(const uint8_t *gid);
int cm_bind(struct cm_id *id, const union address *a);
int cm_resolve_address(struct cm_id *id, const union address *source, const union address *destination,
	uint32_t timeout_ms);
int cm_listen(struct cm_id *id, uint32_t backlog);

/* ports.c */
int space_index(uint16_t space);
int port_take(struct cm_id *id);
int port_may_listen(struct cm_id *id);
void port_release(struct cm_id *id);
struct cm_id *port_owners(uint16_t space, uint16_t port);

/* link.c */
int link_connect(struct cm_id *id, const struct rdma_ucm_connect *c);
int link_accept(struct cm_id *id, const struct rdma_ucm_accept *a);
int link_reject(struct cm_id *id, uint8_t reason, const void *data, uint8_t length);
int link_disconnect(struct cm_id *id);
int link_established(struct cm_id *id);
void link_destroy(struct cm_id *id);
void link_timer(struct cm_id *id);

/* messages.c */
void message_send(const struct message *m);
void message_release(struct message *m);
void messages_deliver(void);

/* disorder.c */
bool keep_back(struct message *m);

/* arrivals.c */
void message_arrived(const struct message *m);

/* timers.c */
void timer_start(struct cm_id *id, uint64_t ms);
void timer_stop(struct cm_id *id);
void timers_expire(void);

/* queries.c */
int cm_query(struct cm_id *id, const struct rdma_ucm_query *q, size_t size);
int cm_query_route(struct cm_id *id, uint64_t response);
int cm_init_qp_attr(struct cm_id *id, uint32_t state, uint64_t response);
void cm_address_vector(struct cm_id *id, const uint8_t *gid, struct ib_uverbs_ah_attr *av);

/* multicast.c */
int cm_join(struct cm_id *id, uint64_t uid, const union address *a, uint16_t flags, uint64_t response);
int cm_leave_group(struct cm_file *file, uint32_t handle, uint64_t response);
void cm_leave_groups(struct cm_id *id);
