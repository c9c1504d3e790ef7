/* The functions of libibverbs, and the objects of all kinds. */
#include "newer.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum { MAX_COMPLETIONS = 64, GIDS = 4 };

/* The first members of ibv_cq_ex and ibv_cq, and of ibv_qp_ex and ibv_qp, are the same: each object is both. */
struct queue {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex extended;
	};
	struct completion completions[MAX_COMPLETIONS];
	unsigned int produced;
	unsigned int consumed;
	int wants_event;
};

struct channel {
	struct ibv_comp_channel channel;
	int event;
};

static struct ibv_device device = {
	.node_type = IBV_NODE_CA,
	.transport_type = IBV_TRANSPORT_IB,
	.name = "standin",
	.dev_name = "uverbs9",
	.dev_path = "/sys/class/infiniband_verbs/uverbs9",
	.ibdev_path = "/sys/class/infiniband/standin",
};
static uint32_t handles = 0x1000;
static int asynchronous;
static struct completion pending;
static int is_pending;
static int next_answer;

struct latest latest;
void (*provider_init_context)(struct verbs_context *verbs);
void (*provider_init_qp)(struct ibv_qp_ex *qp);
void (*provider_init_cq)(struct ibv_cq_ex *cq);

void answer(int result)
{
	next_answer = result;
}

int answered(void)
{
	int result = next_answer;
	next_answer = 0;
	return result;
}

static struct {
	int index;
	int errnum;
	int tells_which;
} refusal;

void refuse(int index, int errnum, int tells_which)
{
	refusal.index = index;
	refusal.errnum = errnum;
	refusal.tells_which = tells_which;
}

int refuses(int index, int *tells_which)
{
	int errnum = index == refusal.index ? refusal.errnum : 0;
	if (errnum)
		refusal.errnum = 0;
	*tells_which = refusal.tells_which;
	return errnum;
}

static atomic_int held;

void hold_posts(int hold)
{
	held = hold;
}

void wait_while_held(void)
{
	while (held)
		usleep(1000);
}

/* Nothing is freed, so that no two objects have the same address. */
void *create(size_t size)
{
	void *object = calloc(1, size);
	if (!object)
		abort();
	return object;
}

static void open_pipe(int *to_read, int *to_write)
{
	int ends[2];
	if (pipe(ends))
		abort();
	*to_read = ends[0];
	*to_write = ends[1];
}

/* Devices. */

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = create(2 * sizeof *list);
	list[0] = &device;
	if (num_devices)
		*num_devices = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *of)
{
	return of->name;
}

__be64 ibv_get_device_guid(struct ibv_device *of)
{
	static const uint8_t guid[8] = {0x02, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55};
	__be64 value;
	(void)of;
	memcpy(&value, guid, sizeof value);
	return value;
}

int ibv_get_device_index(struct ibv_device *of)
{
	(void)of;
	return 9;
}

static struct ibv_context *open_context(int cmd_fd)
{
	struct verbs_context *verbs = (void *)((char *)create(NEWER_BYTES + sizeof *verbs) + NEWER_BYTES);
	verbs->sz = NEWER_BYTES + sizeof *verbs;
	provider_init_context(verbs);
	struct ibv_context *context = &verbs->context;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->device = &device;
	context->cmd_fd = cmd_fd;
	open_pipe(&context->async_fd, &asynchronous);
	context->num_comp_vectors = 8;
	return latest.context = context;
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	CALLED();
	POINTER(of);
	return open_context(dup(0));
}

struct ibv_context *ibv_import_device(int cmd_fd)
{
	CALLED();
	return open_context(cmd_fd);
}

int ibv_close_device(struct ibv_context *context)
{
	CALLED();
	POINTER(context);
	close(context->async_fd);
	close(context->cmd_fd);
	return 0;
}

int ibv_fork_init(void)
{
	CALLED();
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct ibv_device_attr_ex extended = {0};
	int errnum = verbs_get_ctx(context)->query_device_ex(context, NULL, &extended, sizeof extended);
	*attr = extended.orig_attr;
	return errnum;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return verbs_get_ctx(context)->query_port(context, port, (struct ibv_port_attr *)attr,
						  offsetof(struct ibv_port_attr, port_cap_flags2));
}

static void fill_gid(union ibv_gid *gid, uint32_t index)
{
	static const uint8_t raw[16] = {0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	memcpy(gid->raw, raw, sizeof raw);
	gid->raw[15] = index;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	(void)context;
	(void)port;
	fill_gid(gid, index);
	return 0;
}

static void fill_entry(struct ibv_gid_entry *entry, uint32_t port, uint32_t index)
{
	fill_gid(&entry->gid, index);
	entry->gid_index = index;
	entry->port_num = port;
	entry->gid_type = IBV_GID_TYPE_ROCE_V2;
	entry->ndev_ifindex = 0x12345;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size)
{
	(void)context;
	if (flags || entry_size != sizeof *entry)
		return EINVAL;
	fill_entry(entry, port_num, gid_index);
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size)
{
	(void)context;
	if (flags || entry_size != sizeof *entries)
		return -EINVAL;
	size_t count = max_entries < GIDS ? max_entries : GIDS;
	for (size_t i = 0; i < count; i++)
		fill_entry(&entries[i], 1, i);
	return count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	(void)context;
	uint8_t raw[2] = {0x90 + port_num, index};
	memcpy(pkey, raw, sizeof raw);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	CALLED();
	POINTER(context);
	NUMBER(port_num);
	BYTES(pkey);
	return 3;
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr, uint8_t eth_mac[6], uint16_t *vid)
{
	static const uint8_t mac[6] = {2, 3, 5, 7, 11, 13};
	CALLED();
	POINTER(context);
	BYTES(*attr);
	memcpy(eth_mac, mac, sizeof mac);
	*vid = 0x123;
	return 0;
}

/* Events. */

void raise_async(int type)
{
	struct ibv_async_event event = {.event_type = type};
	switch (event.event_type) {
	case IBV_EVENT_CQ_ERR:
		event.element.cq = latest.cq;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		event.element.qp = latest.qp;
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		event.element.srq = latest.srq;
		break;
	case IBV_EVENT_WQ_FATAL:
		event.element.wq = latest.wq;
		break;
	default:
		event.element.port_num = 1;
	}
	if (write(asynchronous, &event, sizeof event) != sizeof event)
		abort();
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	return read(context->async_fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	CALLED();
	BYTES(*event);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct channel *channel = create(sizeof *channel);
	CALLED();
	POINTER(context);
	channel->channel.context = context;
	open_pipe(&channel->channel.fd, &channel->event);
	return latest.channel = &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	CALLED();
	POINTER(channel);
	close(channel->fd);
	close(((struct channel *)channel)->event);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	if (read(channel->fd, cq, sizeof *cq) != sizeof *cq)
		return -1;
	*cq_context = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	CALLED();
	POINTER(cq);
	NUMBER(nevents);
}

/* Domains and memory. */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = create(sizeof *pd);
	CALLED();
	POINTER(context);
	pd->context = context;
	pd->handle = ++handles;
	return latest.pd = pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	CALLED();
	POINTER(pd);
	return 0;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	struct ibv_pd *pd = create(sizeof *pd);
	CALLED();
	POINTER(context);
	NUMBER(pd_handle);
	pd->context = context;
	pd->handle = pd_handle;
	return latest.pd = pd;
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	CALLED();
	POINTER(pd);
}

struct ibv_mr *create_mr(struct ibv_pd *pd, void *addr, size_t length)
{
	struct ibv_mr *mr = create(sizeof *mr);
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->handle = ++handles;
	mr->lkey = 0x80000000 | handles << 8;
	mr->rkey = mr->lkey | 1;
	return latest.mr = mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	CALLED();
	POINTER(pd);
	NUMBER(length);
	NUMBER(access);
	return create_mr(pd, addr, length);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	CALLED();
	POINTER(pd);
	NUMBER(length);
	NUMBER(iova);
	NUMBER(access);
	return create_mr(pd, addr, length);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	uint64_t displacement = iova - (uintptr_t)addr;
	CALLED();
	POINTER(pd);
	NUMBER(length);
	NUMBER(displacement);
	NUMBER(access);
	return create_mr(pd, addr, length);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	CALLED();
	POINTER(pd);
	NUMBER(offset);
	NUMBER(length);
	NUMBER(iova);
	NUMBER(fd);
	NUMBER(access);
	return create_mr(pd, NULL, length);
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	int has_address = addr != NULL;
	CALLED();
	POINTER(mr);
	NUMBER(flags);
	POINTER(pd);
	NUMBER(has_address);
	NUMBER(length);
	NUMBER(access);
	int result = answered();
	if (result) {
		errno = ENOMEM;
		return result;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	mr->lkey += 2;
	mr->rkey += 2;
	return 0;
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	CALLED();
	POINTER(pd);
	NUMBER(mr_handle);
	return create_mr(pd, NULL, 0x12345);
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	CALLED();
	POINTER(mr);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	CALLED();
	POINTER(mr);
	return 0;
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
	struct ibv_dm *dm = create(sizeof *dm);
	CALLED();
	POINTER(context);
	NUMBER(dm_handle);
	dm->context = context;
	return latest.dm = dm;
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
	CALLED();
	POINTER(dm);
}

/* Completion queues. */

struct ibv_cq *create_cq(struct ibv_context *context, struct ibv_comp_channel *channel, int cqe)
{
	struct queue *queue = create(sizeof *queue);
	queue->cq.context = context;
	queue->cq.channel = channel;
	queue->cq.handle = ++handles;
	queue->cq.cqe = cqe;
	provider_init_cq(&queue->extended);
	latest.cq_ex = &queue->extended;
	latest.cq_before = latest.cq;
	return latest.cq = &queue->cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	CALLED();
	POINTER(context);
	NUMBER(cqe);
	POINTER(cq_context);
	POINTER(channel);
	NUMBER(comp_vector);
	return create_cq(context, channel, cqe);
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	CALLED();
	POINTER(cq);
	NUMBER(cqe);
	cq->cqe = cqe + 1;
	return 0;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	CALLED();
	POINTER(cq);
	return 0;
}

static void add(struct queue *queue, const struct completion *completion)
{
	if (queue->produced - queue->consumed == MAX_COMPLETIONS)
		abort();
	queue->completions[queue->produced++ % MAX_COMPLETIONS] = *completion;
}

void complete(struct ibv_cq *cq, const struct completion *completion)
{
	struct queue *queue = (struct queue *)cq;
	add(queue, completion);
	if (queue->wants_event && cq->channel) {
		queue->wants_event = 0;
		if (write(((struct channel *)cq->channel)->event, &cq, sizeof cq) != sizeof cq)
			abort();
	}
}

void complete_before_notification(const struct completion *completion)
{
	pending = *completion;
	is_pending = 1;
}

int next_completion(struct ibv_cq *cq, struct completion *completion)
{
	struct queue *queue = (struct queue *)cq;
	if (queue->consumed == queue->produced)
		return 0;
	*completion = queue->completions[queue->consumed++ % MAX_COMPLETIONS];
	return 1;
}

int request_event(struct ibv_cq *cq, int solicited_only)
{
	struct queue *queue = (struct queue *)cq;
	CALLED();
	POINTER(cq);
	NUMBER(solicited_only);
	if (is_pending) {
		is_pending = 0;
		add(queue, &pending);
	}
	queue->wants_event = 1;
	return 0;
}

/* Shared receive queues. */

struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_attr *attr)
{
	struct ibv_srq *srq = create(sizeof *srq);
	srq->context = pd->context;
	srq->pd = pd;
	srq->handle = ++handles;
	srq->events_completed = attr->max_wr;
	return latest.srq = srq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	CALLED();
	POINTER(pd);
	BYTES(*init);
	return create_srq(pd, &init->attr);
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	CALLED();
	POINTER(srq);
	NUMBER(mask);
	if (mask & IBV_SRQ_MAX_WR) {
		NUMBER(attr->max_wr);
		srq->events_completed = attr->max_wr;
	}
	if (mask & IBV_SRQ_LIMIT)
		NUMBER(attr->srq_limit);
	return 0;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	attr->max_wr = srq->events_completed;
	attr->max_sge = 5;
	attr->srq_limit = 6;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	CALLED();
	POINTER(srq);
	return 0;
}

/* Queue pairs. */

struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp_ex *extended = create(sizeof *extended + sizeof(newer_wr_flush));
	struct ibv_qp *qp = &extended->qp_base;
	qp->context = context;
	qp->pd = init->pd;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->srq = init->srq;
	qp->qp_type = init->qp_type;
	qp->handle = ++handles;
	qp->qp_num = 0x30000 + handles;
	provider_init_qp(extended);
	return latest.qp = qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	CALLED();
	POINTER(pd);
	BYTES(*init);
	struct ibv_qp_init_attr_ex extended = {
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.srq = init->srq,
		.cap = init->cap,
		.qp_type = init->qp_type,
		.pd = pd,
	};
	return create_qp(pd->context, &extended);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return (struct ibv_qp_ex *)qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	CALLED();
	POINTER(qp);
	BYTES(*attr);
	NUMBER(mask);
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return 0;
}

static struct ibv_ah_attr address(uint8_t port, uint8_t first)
{
	struct ibv_ah_attr attr = {
		.grh = {
			.flow_label = 0xb0000 + first,
			.sgid_index = first + 1,
			.hop_limit = first + 2,
			.traffic_class = first + 3,
		},
		.dlid = 0x8000 + first,
		.sl = first & 15,
		.src_path_bits = first & 0x7f,
		.static_rate = IBV_RATE_10_GBPS,
		.is_global = 1,
		.port_num = port,
	};
	fill_gid(&attr.grh.dgid, first);
	return attr;
}

/* Each attribute has another value. */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	(void)mask;
	memset(init, 0, sizeof *init);
	*attr = (struct ibv_qp_attr){
		.qp_state = qp->state,
		.cur_qp_state = qp->state,
		.path_mtu = IBV_MTU_2048,
		.path_mig_state = IBV_MIG_REARM,
		.qkey = 0x91929394,
		.rq_psn = 0x818283,
		.sq_psn = 0x717273,
		.dest_qp_num = 0x616263,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.cap = {.max_send_wr = 201, .max_recv_wr = 202, .max_send_sge = 203, .max_recv_sge = 204,
			.max_inline_data = 205},
		.ah_attr = address(1, 0xa5),
		.alt_ah_attr = address(2, 0xc3),
		.pkey_index = 0x9101,
		.alt_pkey_index = 0x9202,
		.sq_draining = 1,
		.max_rd_atomic = 0xf1,
		.max_dest_rd_atomic = 0xf2,
		.min_rnr_timer = 0xf3,
		.port_num = 0xf4,
		.timeout = 0xf5,
		.retry_cnt = 0xf6,
		.rnr_retry = 0xf7,
		.alt_port_num = 0xf8,
		.alt_timeout = 0xf9,
		.rate_limit = 0x51525354,
	};
	return 0;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	CALLED();
	POINTER(qp);
	NUMBER(op);
	NUMBER(flags);
	return answered();
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	*ece = (struct ibv_ece){.vendor_id = 0xf1e2d3c4, .options = 0xb5a69788, .comp_mask = 0x1234};
	return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	CALLED();
	POINTER(qp);
	BYTES(*ece);
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	CALLED();
	POINTER(qp);
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	CALLED();
	POINTER(qp);
	BYTES(*gid);
	NUMBER(lid);
	return 0;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	CALLED();
	POINTER(qp);
	BYTES(*gid);
	NUMBER(lid);
	return 0;
}

/* Address handles. */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = create(sizeof *ah);
	CALLED();
	POINTER(pd);
	BYTES(*attr);
	ah->context = pd->context;
	ah->pd = pd;
	return latest.ah = ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	CALLED();
	POINTER(ah);
	return 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *attr)
{
	CALLED();
	POINTER(context);
	NUMBER(port_num);
	BYTES(*wc);
	BYTES(*grh);
	*attr = address(port_num, 0x27);
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;
	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}
