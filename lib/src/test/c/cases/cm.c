/* The connection manager. */
#include "newer.h"
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <endian.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <string.h>

extern struct rdma_cm_id *latest_id;

static const char TOLD[] = "what we send";
static const uint8_t RAW[16] = {0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

static struct sockaddr_in ipv4(void)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(0x1d2f),
		.sin_addr.s_addr = htonl(0xc0000201),
	};
}

static struct sockaddr_in6 ipv6(void)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(0x1d30), .sin6_scope_id = 3};
	memcpy(&address.sin6_addr, RAW, sizeof RAW);
	return address;
}

void create_identifiers(void)
{
	struct rdma_cm_id *id;
	struct rdma_event_channel *channel = latest_id->channel;
	rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	rdma_create_id(channel, &id, NULL, RDMA_PS_UDP);
	rdma_create_id(channel, &id, NULL, RDMA_PS_IPOIB);
	rdma_create_id(channel, &id, NULL, RDMA_PS_IB);
}

static void create_identifier(struct rdma_event_channel *channel, enum rdma_port_space space, enum ibv_qp_type type)
{
	struct sockaddr_in address = ipv4();
	struct rdma_addrinfo info = {
		.ai_flags = RAI_PASSIVE,
		.ai_port_space = space,
		.ai_qp_type = type,
		.ai_src_len = sizeof address,
		.ai_src_addr = (struct sockaddr *)&address,
	};
	struct rdma_cm_id *id;
	rdma_create_ep(&id, &info, NULL, NULL);
	rdma_migrate_id(id, channel);
}

void create_identifiers_of_any_type(void)
{
	struct rdma_event_channel *channel = latest_id->channel;
	create_identifier(channel, RDMA_PS_IB, IBV_QPT_XRC_SEND);
	create_identifier(channel, RDMA_PS_TCP, IBV_QPT_RC);
}

void create_an_xrc_receive_queue_pair(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = latest.xrcd,
	};
	rdma_create_qp_ex(latest_id, &attr);
}

void create_an_xrc_send_queue_pair(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.cap = {.max_send_wr = 3, .max_send_sge = 1},
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = latest.pd,
	};
	rdma_create_qp_ex(latest_id, &attr);
}

void bind_and_listen(void)
{
	struct sockaddr_in address = ipv4();
	rdma_bind_addr(latest_id, (struct sockaddr *)&address);
	rdma_listen(latest_id, 0x1234);
}

void bind_to_infiniband(void)
{
	struct sockaddr_ib address = {
		.sib_family = AF_IB,
		.sib_pkey = htons(0x8001),
		.sib_flowinfo = htonl(0xfedcb),
		.sib_sid = htobe64(0x0102030405060708),
		.sib_sid_mask = htobe64(0xf1f2f3f4f5f6f7f8),
		.sib_scope_id = 0x2122232425262728,
	};
	memcpy(&address.sib_addr, RAW, sizeof RAW);
	rdma_bind_addr(latest_id, (struct sockaddr *)&address);
}

void resolve(void)
{
	struct sockaddr_in6 from = ipv6();
	struct sockaddr_in to = ipv4();
	rdma_resolve_addr(latest_id, (struct sockaddr *)&from, (struct sockaddr *)&to, 12345);
	rdma_resolve_addr(latest_id, NULL, (struct sockaddr *)&from, 1);
	rdma_resolve_route(latest_id, 54321);
}

static struct rdma_conn_param parameters(void)
{
	return (struct rdma_conn_param){
		.private_data = TOLD,
		.private_data_len = 12,
		.responder_resources = 201,
		.initiator_depth = 202,
		.flow_control = 1,
		.retry_count = 5,
		.rnr_retry_count = 6,
		.srq = 1,
		.qp_num = 0xfedcba,
	};
}

void connect_and_accept(void)
{
	struct rdma_conn_param param = {0};
	struct rdma_conn_param from = parameters();
	param.private_data = from.private_data;
	param.private_data_len = from.private_data_len;
	param.responder_resources = from.responder_resources;
	param.initiator_depth = from.initiator_depth;
	param.flow_control = from.flow_control;
	param.retry_count = from.retry_count;
	param.rnr_retry_count = from.rnr_retry_count;
	param.srq = from.srq;
	param.qp_num = from.qp_num;
	rdma_connect(latest_id, &param);
	rdma_accept(latest_id, &param);
	rdma_establish(latest_id);
	rdma_reject(latest_id, TOLD, 12);
	rdma_reject_ece(latest_id, TOLD, 12);
	rdma_notify(latest_id, IBV_EVENT_COMM_EST);
	rdma_disconnect(latest_id);
}

void create_a_queue_pair(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = latest.cq,
		.recv_cq = latest.cq,
		.cap = {.max_send_wr = 3, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = latest.pd,
	};
	rdma_create_qp_ex(latest_id, &attr);
}

void destroy_the_queue_pair(void)
{
	rdma_destroy_qp(latest_id);
}

void set_options(void)
{
	uint8_t tos = 0xb8;
	uint8_t timeout = 29;
	int yes = 1;
	struct ibv_path_data path = {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
		.path = {
			.service_id = htobe64(0x0102030405060708),
			.dlid = htons(0xfedc),
			.slid = htons(0xba98),
			.flowlabel_hoplimit = htonl(0xabcde << 8 | 250),
			.tclass = 0xb8,
			.reversible_numpath = 0x81,
			.pkey = htons(0x8001),
			.qosclass_sl = htons(13),
			.mtu = 2 << 6 | IBV_MTU_2048,
			.rate = 2 << 6 | IBV_RATE_100_GBPS,
			.packetlifetime = 2 << 6 | 18,
		},
	};
	memcpy(&path.path.dgid, RAW, sizeof RAW);
	memcpy(&path.path.sgid, RAW, sizeof RAW);
	path.path.sgid.raw[15] = 9;
	rdma_set_option(latest_id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos);
	rdma_set_option(latest_id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof yes);
	rdma_set_option(latest_id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &yes, sizeof yes);
	rdma_set_option(latest_id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
	rdma_set_option(latest_id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path);
}

void use_an_external_queue_pair(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_ece ece = {.vendor_id = 0x81828384, .options = 0x91929394};
	int mask;
	rdma_init_qp_attr(latest_id, &attr, &mask);
	ibv_modify_qp(latest.qp, &attr, mask);
	rdma_set_local_ece(latest_id, &ece);
}

void join_and_leave(void)
{
	struct sockaddr_in group = ipv4();
	struct sockaddr_in6 other = ipv6();
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = (struct sockaddr *)&other,
	};
	rdma_join_multicast(latest_id, (struct sockaddr *)&group, NULL);
	rdma_join_multicast_ex(latest_id, &attr, NULL);
	rdma_leave_multicast(latest_id, (struct sockaddr *)&group);
	rdma_leave_multicast(latest_id, (struct sockaddr *)&other);
}

void look_up(void)
{
	struct sockaddr_in6 source = ipv6();
	struct rdma_addrinfo *found;
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY,
		.ai_family = AF_INET6,
		.ai_qp_type = IBV_QPT_UD,
		.ai_port_space = RDMA_PS_UDP,
		.ai_src_len = sizeof source,
		.ai_src_addr = (struct sockaddr *)&source,
	};
	rdma_getaddrinfo("fe80::1", "7471", &hints, &found);
	rdma_freeaddrinfo(found);
	struct rdma_addrinfo defaults = {.ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC};
	rdma_getaddrinfo(NULL, "7471", &defaults, &found);
	rdma_freeaddrinfo(found);
	struct rdma_addrinfo xrc = {.ai_port_space = RDMA_PS_IB, .ai_qp_type = IBV_QPT_XRC_SEND};
	rdma_getaddrinfo(NULL, "7471", &xrc, &found);
	rdma_freeaddrinfo(found);
}

void destroy_the_identifier(void)
{
	rdma_destroy_id(latest_id);
}

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status, uint64_t arg);

void write_an_event(void)
{
	rdma_write_cm_event(latest_id, (enum rdma_cm_event_type)NEWER_CM_EVENT_USER, -5, 0xf1f2f3f4f5f6f7f8);
}

void find_a_service(void)
{
	struct rdma_addrinfo hints = {.ai_flags = NEWER_RAI_SA};
	struct rdma_addrinfo *found;
	rdma_resolve_addrinfo(latest_id, NULL, "a service", &hints);
	rdma_query_addrinfo(latest_id, &found);
	rdma_freeaddrinfo(found);
}

void acknowledge_cm_event(int type)
{
	struct rdma_cm_event event = {.event = type};
	rdma_ack_cm_event(&event);
}

#define REMOTE 0xf1f2f3f4f5f6f7f8
#define RKEY 0x81828384

static struct ibv_sge piece(uint32_t offset, uint32_t length)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)latest.mr->addr + offset,
		.length = length,
		.lkey = latest.mr->lkey,
	};
}

void register_simple_memory(void)
{
	latest_id->pd = latest.pd;
	rdma_reg_msgs(latest_id, latest.mr->addr, 100);
	rdma_reg_read(latest_id, latest.mr->addr, 200);
	rdma_reg_write(latest_id, latest.mr->addr, 300);
}

/* The id of a simple message is the pointer of its context. */
static void *const CONTEXT = (void *)0x123456789a;

void post_simple_pieces(void)
{
	struct ibv_sge two[] = {piece(8, 16), piece(32, 64)};
	rdma_post_recvv(latest_id, CONTEXT, two, 2);
	rdma_post_sendv(latest_id, CONTEXT, two, 2, IBV_SEND_SIGNALED);
	rdma_post_readv(latest_id, CONTEXT, two, 2, IBV_SEND_SIGNALED, REMOTE, RKEY);
	rdma_post_writev(latest_id, CONTEXT, two, 2, IBV_SEND_SIGNALED, REMOTE, RKEY);
}

void post_simple_messages_with_flags(void)
{
	char *memory = latest.mr->addr;
	rdma_post_send(latest_id, CONTEXT, memory + 8, 16, latest.mr, IBV_SEND_SOLICITED);
	rdma_post_read(latest_id, CONTEXT, memory + 8, 16, latest.mr, IBV_SEND_FENCE, REMOTE, RKEY);
	rdma_post_write(latest_id, CONTEXT, memory + 8, 16, latest.mr, IBV_SEND_FENCE | IBV_SEND_SIGNALED, REMOTE,
			RKEY);
}

void post_simple_messages(void)
{
	char *memory = latest.mr->addr;
	rdma_post_recv(latest_id, CONTEXT, memory + 8, 16, latest.mr);
	rdma_post_send(latest_id, CONTEXT, memory + 8, 16, latest.mr, IBV_SEND_SIGNALED);
	rdma_post_read(latest_id, CONTEXT, memory + 8, 16, latest.mr, IBV_SEND_SIGNALED, REMOTE, RKEY);
	rdma_post_write(latest_id, CONTEXT, memory + 8, 16, latest.mr, IBV_SEND_SIGNALED, REMOTE, RKEY);
}

void post_a_simple_datagram(void)
{
	char *memory = latest.mr->addr;
	rdma_post_ud_send(latest_id, CONTEXT, memory + 8, 16, latest.mr, IBV_SEND_SIGNALED, latest.ah, 0xfedcba);
}
