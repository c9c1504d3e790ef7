/*
 * A stand-in for libibverbs and a device, with the soname of libibverbs. Its only purpose is to measure what a call
 * costs.
 *
 * It transfers no data and checks no state. A post copies a send into a ring and, if the send is signaled, its
 * completion into another ring, from which polls take it: this is what a provider does before it rings the doorbell.
 * Fields are copied one by one, because providers read them so: a wide load of what has just been stored in parts would
 * stall for longer than the call takes (`build` sets compiler options for the same reason). There are no locks, so
 * threads that race on one queue mix up messages; but they cannot write outside the rings, because every index is
 * masked.
 *
 * Each object has its own pages, which become inaccessible when it is destroyed: a later use of the object crashes.
 * Only regions have no pages of their own, because there may be millions of them.
 *
 * The device standin0 is fast. standin1 is slow in every post and poll and reads its objects until the end, so that a
 * destruction that does not wait for the call crashes.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr

enum { DEVICES = 2, MAX_SGES = 4, MAX_INLINE = 64, MAX_REQUESTS = 1 << 14, MAX_ENTRIES = 1 << 16, DELAY_READS = 256 };

struct request {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned int send_flags;
	__be32 imm_data;
	int num_sge;
	uint64_t remote_addr;
	uint32_t rkey;
	union {
		struct ibv_sge sges[MAX_SGES];
		char bytes[MAX_INLINE];
	};
};

/* The first members of ibv_cq_ex and ibv_cq, and of ibv_qp_ex and ibv_qp, are the same: each object is both. */
struct queue {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex extended;
	};
	const struct ibv_wc *current;
	size_t bytes;
	uint32_t mask;
	uint32_t produced;
	uint32_t consumed;
	struct ibv_wc entries[];
};

struct pair {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex extended;
	};
	struct request *building;
	size_t bytes;
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr;
	int signal_all;
	uint32_t mask;
	uint32_t posted;
	uint32_t received;
	struct request requests[];
};

static struct ibv_device devices[DEVICES] = {
	{.node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "standin0"},
	{.node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "standin1"},
};
static atomic_uint handles;

static void *object(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages == MAP_FAILED ? NULL : pages;
}

/* Keeps the addresses reserved, so that no other object gets them. */
static int destroy(void *object, size_t bytes)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
	return mmap(object, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED ? errno : 0;
}

static uint32_t power_of_two(uint32_t at_least)
{
	uint32_t power = 1;
	while (power < at_least)
		power *= 2;
	return power;
}

static void complete(struct queue *queue, uint64_t wr_id, enum ibv_wc_opcode opcode, uint32_t length, uint32_t qp_num)
{
	struct ibv_wc *wc = &queue->entries[queue->produced & queue->mask];
	wc->wr_id = wr_id;
	wc->status = IBV_WC_SUCCESS;
	wc->opcode = opcode;
	wc->byte_len = length;
	wc->qp_num = qp_num;
	wc->wc_flags = 0;
	queue->produced++;
}

static enum ibv_wc_opcode completed(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : opcode == IBV_WR_RDMA_WRITE ? IBV_WC_RDMA_WRITE : IBV_WC_SEND;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct pair *pair = (struct pair *)qp;
	struct queue *queue = (struct queue *)qp->send_cq;
	for (; wr; wr = wr->next) {
		if (queue->produced - queue->consumed > queue->mask || wr->num_sge > MAX_SGES) {
			*bad_wr = wr;
			return wr->num_sge > MAX_SGES ? EINVAL : ENOMEM;
		}
		struct request *request = &pair->requests[pair->posted++ & pair->mask];
		uint32_t length = 0;
		request->wr_id = wr->wr_id;
		request->opcode = wr->opcode;
		request->send_flags = wr->send_flags;
		request->imm_data = wr->imm_data;
		request->num_sge = wr->num_sge;
		if (wr->opcode == IBV_WR_RDMA_READ || wr->opcode == IBV_WR_RDMA_WRITE) {
			request->remote_addr = wr->wr.rdma.remote_addr;
			request->rkey = wr->wr.rdma.rkey;
		}
		if (wr->send_flags & IBV_SEND_INLINE) {
			for (int i = 0; i < wr->num_sge && length + wr->sg_list[i].length <= MAX_INLINE; i++) {
				memcpy(request->bytes + length, (const void *)wr->sg_list[i].addr, wr->sg_list[i].length);
				length += wr->sg_list[i].length;
			}
		} else {
			for (int i = 0; i < wr->num_sge; i++) {
				request->sges[i].addr = wr->sg_list[i].addr;
				request->sges[i].length = wr->sg_list[i].length;
				request->sges[i].lkey = wr->sg_list[i].lkey;
				length += wr->sg_list[i].length;
			}
		}
		if ((wr->send_flags & IBV_SEND_SIGNALED) || pair->signal_all)
			complete(queue, wr->wr_id, completed(wr->opcode), length, qp->qp_num);
	}
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct pair *pair = (struct pair *)qp;
	(void)bad_wr;
	for (; wr; wr = wr->next)
		pair->received++;
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct queue *queue = (struct queue *)cq;
	int polled = 0;
	while (polled < num_entries && queue->consumed != queue->produced) {
		const struct ibv_wc *entry = &queue->entries[queue->consumed++ & queue->mask];
		wc[polled].wr_id = entry->wr_id;
		wc[polled].status = entry->status;
		wc[polled].opcode = entry->opcode;
		wc[polled].byte_len = entry->byte_len;
		wc[polled].qp_num = entry->qp_num;
		wc[polled].wc_flags = entry->wc_flags;
		polled++;
	}
	return polled;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	((struct pair *)qp)->building = NULL;
}

static void wr_begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
	struct pair *pair = (struct pair *)qp;
	struct request *request = &pair->requests[pair->posted++ & pair->mask];
	pair->building = request;
	request->wr_id = qp->wr_id;
	request->send_flags = qp->wr_flags;
	request->opcode = opcode;
	request->num_sge = 0;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	wr_begin(qp, IBV_WR_SEND);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct pair *pair = (struct pair *)qp;
	struct request *request = pair->building;
	request->num_sge = 1;
	request->sges[0].addr = addr;
	request->sges[0].length = length;
	request->sges[0].lkey = lkey;
	if (request->send_flags & IBV_SEND_SIGNALED)
		complete((struct queue *)pair->qp.send_cq, request->wr_id, completed(request->opcode), length, pair->qp.qp_num);
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	((struct pair *)qp)->building = NULL;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct queue *queue = (struct queue *)cq;
	(void)attr;
	if (queue->consumed == queue->produced)
		return ENOENT;
	queue->current = &queue->entries[queue->consumed & queue->mask];
	cq->wr_id = queue->current->wr_id;
	cq->status = queue->current->status;
	return 0;
}

static void end_poll(struct ibv_cq_ex *cq)
{
	((struct queue *)cq)->consumed++;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return ((struct queue *)cq)->current->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return ((struct queue *)cq)->current->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return ((struct queue *)cq)->current->byte_len;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return ((struct queue *)cq)->current->qp_num;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return ((struct queue *)cq)->current->wc_flags;
}

static void delay(const void *object)
{
	for (int i = 0; i < DELAY_READS; i++)
		(void)*(const volatile char *)object;
}

static int slow_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	delay(qp);
	int result = post_send(qp, wr, bad_wr);
	delay(qp->send_cq);
	delay(qp);
	return result;
}

static int slow_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	delay(cq);
	int result = poll_cq(cq, num_entries, wc);
	delay(cq);
	return result;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = calloc(DEVICES + 1, sizeof *list);
	if (!list)
		return NULL;
	for (int i = 0; i < DEVICES; i++)
		list[i] = &devices[i];
	if (num_devices)
		*num_devices = DEVICES;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return 1 + (device - devices);
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init);
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);

int ibv_get_device_index(struct ibv_device *device)
{
	return (int) (device - devices);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct verbs_context *verbs = object(sizeof *verbs);
	if (!verbs)
		return NULL;
	verbs->sz = sizeof *verbs;
	verbs->create_cq_ex = create_cq_ex;
	verbs->create_qp_ex = create_qp_ex;
	struct ibv_context *context = &verbs->context;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	int fast = device == &devices[0];
	context->device = device;
	context->ops.post_send = fast ? post_send : slow_post_send;
	context->ops.post_recv = post_recv;
	context->ops.poll_cq = fast ? poll_cq : slow_poll_cq;
	context->cmd_fd = -1;
	context->async_fd = eventfd(0, EFD_CLOEXEC);
	if (context->async_fd < 0) {
		destroy(verbs, sizeof *verbs);
		return NULL;
	}
	context->num_comp_vectors = 1;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	close(context->async_fd);
	return destroy(verbs_get_ctx(context), sizeof(struct verbs_context)) ? -1 : 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof *attr);
	strcpy(attr->fw_ver, "stand-in");
	attr->phys_port_cnt = 1;
	attr->max_mr_size = UINT64_MAX;
	attr->max_qp = attr->max_cq = attr->max_mr = attr->max_pd = INT32_MAX;
	attr->max_qp_wr = MAX_REQUESTS;
	attr->max_cqe = MAX_ENTRIES;
	attr->max_sge = MAX_SGES;
	attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = 16;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compatible)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compatible;
	(void)context;
	if (port != 1)
		return EINVAL;
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = attr->active_mtu = IBV_MTU_4096;
	attr->gid_tbl_len = attr->pkey_tbl_len = 1;
	attr->lid = 1;
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	(void)context;
	if (port != 1 || index != 0) {
		errno = EINVAL;
		return -1;
	}
	memset(gid, 0, sizeof *gid);
	gid->raw[15] = 1;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = object(sizeof *pd);
	if (pd)
		pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return destroy(pd, sizeof *pd);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ibv_mr *mr = calloc(1, sizeof *mr);
	(void)iova;
	(void)access;
	if (!mr)
		return NULL;
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->handle = mr->lkey = mr->rkey = ++handles;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uint64_t)addr, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	uint32_t entries = power_of_two(cqe);
	size_t bytes = offsetof(struct queue, entries[entries]);
	struct queue *queue = object(bytes);
	(void)comp_vector;
	if (!queue)
		return NULL;
	queue->cq.context = context;
	queue->cq.channel = channel;
	queue->cq.cq_context = cq_context;
	queue->cq.handle = ++handles;
	queue->cq.cqe = entries;
	queue->bytes = bytes;
	queue->mask = entries - 1;
	return &queue->cq;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init)
{
	struct ibv_cq *cq = ibv_create_cq(context, init->cqe, init->cq_context, init->channel, init->comp_vector);
	if (!cq)
		return NULL;
	struct ibv_cq_ex *extended = &((struct queue *)cq)->extended;
	extended->start_poll = start_poll;
	extended->end_poll = end_poll;
	extended->read_opcode = read_opcode;
	extended->read_vendor_err = read_vendor_err;
	extended->read_byte_len = read_byte_len;
	extended->read_qp_num = read_qp_num;
	extended->read_wc_flags = read_wc_flags;
	return extended;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	return destroy(cq, ((struct queue *)cq)->bytes);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	uint32_t depth = power_of_two(init->cap.max_send_wr);
	size_t bytes = offsetof(struct pair, requests[depth]);
	if (init->cap.max_inline_data > MAX_INLINE) {
		errno = EINVAL;
		return NULL;
	}
	struct pair *pair = object(bytes);
	if (!pair)
		return NULL;
	pair->qp.context = pd->context;
	pair->qp.pd = pd;
	pair->qp.send_cq = init->send_cq;
	pair->qp.recv_cq = init->recv_cq;
	pair->qp.handle = ++handles;
	pair->qp.qp_num = pair->qp.handle & 0xffffff;
	pair->qp.qp_type = init->qp_type;
	pair->cap = init->cap;
	pair->signal_all = init->sq_sig_all;
	pair->bytes = bytes;
	pair->mask = depth - 1;
	return &pair->qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp_init_attr plain = {
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.cap = init->cap,
		.qp_type = init->qp_type,
		.sq_sig_all = init->sq_sig_all,
	};
	(void)context;
	struct ibv_qp *qp = ibv_create_qp(init->pd, &plain);
	if (!qp)
		return NULL;
	struct ibv_qp_ex *extended = &((struct pair *)qp)->extended;
	extended->wr_start = wr_start;
	extended->wr_send = wr_send;
	extended->wr_set_sge = wr_set_sge;
	extended->wr_complete = wr_complete;
	return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return ((struct pair *)qp)->extended.wr_start ? &((struct pair *)qp)->extended : NULL;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)mask;
	((struct pair *)qp)->attr = *attr;
	qp->state = attr->qp_state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct pair *pair = (struct pair *)qp;
	(void)mask;
	*attr = pair->attr;
	attr->qp_state = qp->state;
	attr->cap = pair->cap;
	memset(init, 0, sizeof *init);
	init->send_cq = qp->send_cq;
	init->recv_cq = qp->recv_cq;
	init->cap = pair->cap;
	init->qp_type = qp->qp_type;
	init->sq_sig_all = pair->signal_all;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	return destroy(qp, ((struct pair *)qp)->bytes);
}
