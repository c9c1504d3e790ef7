/* A provider that copies each request, and functions that call the inline functions of rdma_verbs.h. */
#include <errno.h>
#include <string.h>
#include <rdma/rdma_verbs.h>

/* The fields of the last request, which does not exist any more after its post. */
uint64_t request[12];

static void copy(uint64_t kind, uint64_t object, uint64_t wr_id, void *next, struct ibv_sge *sge, int num_sge)
{
	memset(request, 0, sizeof(request));
	request[0] = kind;
	request[1] = object;
	request[2] = wr_id;
	request[3] = next != NULL;
	request[4] = num_sge;
	request[5] = sge->addr;
	request[6] = (uint64_t)sge->length << 32 | sge->lkey;
}

static int copy_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	copy(1, (uintptr_t)qp, wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	request[7] = wr->opcode;
	request[8] = wr->send_flags;
	if (qp->qp_type == IBV_QPT_UD) {
		request[9] = (uintptr_t)wr->wr.ud.ah;
		request[10] = wr->wr.ud.remote_qpn;
		request[11] = wr->wr.ud.remote_qkey;
	} else if (wr->opcode != IBV_WR_SEND) {
		request[9] = wr->wr.rdma.remote_addr;
		request[10] = wr->wr.rdma.rkey;
	}
	*bad = wr;
	return wr->wr_id == 0 ? ENOMEM : 0;
}

static int copy_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	copy(2, (uintptr_t)qp, wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	*bad = wr;
	return wr->wr_id == 0 ? EINVAL : 0;
}

static int copy_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	copy(3, (uintptr_t)srq, wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	*bad = wr;
	return wr->wr_id == 0 ? E2BIG : 0;
}

/* What the polls and the request for an event return, and the number of polls. */
static int polls[2];
static int notify;
static int polled;

void answer(int first_poll, int second_poll, int req_notify)
{
	polls[0] = first_poll;
	polls[1] = second_poll;
	notify = req_notify;
	polled = 0;
}

static int answer_poll(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	request[0] = (uintptr_t)cq;
	request[1] = num_entries;
	request[2] = (uintptr_t)wc;
	request[3] = polled + 1;
	return polls[polled++];
}

static int answer_notify(struct ibv_cq *cq, int solicited_only)
{
	request[4] = (uintptr_t)cq;
	request[5] = solicited_only;
	return notify;
}

void set_id(struct rdma_cm_id *id, struct ibv_context *context, struct ibv_qp *qp, struct ibv_cq *send_cq,
	    struct ibv_cq *recv_cq, struct ibv_comp_channel *channel)
{
	context->ops.post_send = copy_send;
	context->ops.post_recv = copy_recv;
	context->ops.post_srq_recv = copy_srq_recv;
	context->ops.poll_cq = answer_poll;
	context->ops.req_notify_cq = answer_notify;
	qp->context = context;
	qp->qp_type = IBV_QPT_RC;
	send_cq->context = context;
	recv_cq->context = context;
	channel->fd = -1;
	id->qp = qp;
	id->send_cq = send_cq;
	id->recv_cq = recv_cq;
	id->send_cq_channel = channel;
	id->recv_cq_channel = channel;
}

void set_srq(struct rdma_cm_id *id, struct ibv_srq *srq)
{
	srq->context = id->qp->context;
	id->srq = srq;
}

void set_datagram(struct rdma_cm_id *id)
{
	id->qp->qp_type = IBV_QPT_UD;
}

/* A region of all addresses, because the header asserts that receives are within their region. */
void set_keys(struct ibv_mr *mr)
{
	mr->length = UINTPTR_MAX;
	mr->lkey = 0x89abcdef;
}

int call_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge)
{
	return rdma_post_recvv(id, context, sgl, nsge);
}

int call_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags)
{
	return rdma_post_sendv(id, context, sgl, nsge, flags);
}

int call_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags, uint64_t remote_addr,
		    uint32_t rkey)
{
	return rdma_post_readv(id, context, sgl, nsge, flags, remote_addr, rkey);
}

int call_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags,
		     uint64_t remote_addr, uint32_t rkey)
{
	return rdma_post_writev(id, context, sgl, nsge, flags, remote_addr, rkey);
}

int call_post_recv(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr)
{
	return rdma_post_recv(id, context, addr, length, mr);
}

int call_post_send(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr, int flags)
{
	return rdma_post_send(id, context, addr, length, mr, flags);
}

int call_post_read(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr, int flags,
		   uint64_t remote_addr, uint32_t rkey)
{
	return rdma_post_read(id, context, addr, length, mr, flags, remote_addr, rkey);
}

int call_post_write(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr, int flags,
		    uint64_t remote_addr, uint32_t rkey)
{
	return rdma_post_write(id, context, addr, length, mr, flags, remote_addr, rkey);
}

int call_post_ud_send(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr, int flags,
		      struct ibv_ah *ah, uint32_t remote_qpn)
{
	return rdma_post_ud_send(id, context, addr, length, mr, flags, ah, remote_qpn);
}

int call_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return rdma_get_send_comp(id, wc);
}

int call_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return rdma_get_recv_comp(id, wc);
}

void *call_get_local_addr(struct rdma_cm_id *id)
{
	return rdma_get_local_addr(id);
}

void *call_get_peer_addr(struct rdma_cm_id *id)
{
	return rdma_get_peer_addr(id);
}
