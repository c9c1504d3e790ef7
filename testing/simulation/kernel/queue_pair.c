/* The commands of queue pairs. */
#include "../wire/wire.h"
#include "kernel.h"

#define ECE_OPTIONS 0x10017 /* enhancements that both sides must have to use them */

int create_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct mlx5_ib_create_qp m;
	struct mlx5_ib_create_qp_resp resp = {.ece_options = ECE_OPTIONS};
	struct pd *pd = (struct pd *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_PD_HANDLE), O_PD);
	struct cq *scq = (struct cq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE), O_CQ);
	struct cq *rcq = (struct cq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE), O_CQ);
	uint32_t type = attr_in_number(h, UVERBS_ATTR_CREATE_QP_TYPE), flags = attr_in_number(h, UVERBS_ATTR_CREATE_QP_FLAGS);
	struct obj *xrcd = sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE), O_XRCD);
	struct srq *srq = NULL;
	struct qp *qp;
	attr_in_copy(h, UVERBS_ATTR_UHW_IN, &m, sizeof(m));
	if (type != IBV_QPT_RC && type != IBV_QPT_UC && type != IBV_QPT_UD && type != IBV_QPT_XRC_SEND
	    && type != IBV_QPT_XRC_RECV)
		return EOPNOTSUPP;
	if (flags & ~(uint32_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL)
		return EINVAL;
	if (type == IBV_QPT_XRC_RECV ? !xrcd : !pd || !scq || (type != IBV_QPT_XRC_SEND && !rcq))
		return EINVAL;
	if (attr_has(h, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)
	    && !(srq = (struct srq *)sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE), O_SRQ)))
		return EINVAL;
	qp = object_new(ctx, sizeof(*qp), O_QP);
	object_events(h, &qp->o, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	qp->qpn = wire_queue_pair_number(next_number++);
	qp->uidx = m.uidx;
	qp->type = type;
	qp->pd = pd;
	qp->scq = scq;
	qp->rcq = rcq;
	qp->srq = srq;
	qp->xrcd = xrcd;
	used(pd ? &pd->o : NULL);
	used(scq ? &scq->o : NULL);
	used(rcq ? &rcq->o : NULL);
	used(srq ? &srq->o : NULL);
	used(xrcd);
	attr_in_copy(h, UVERBS_ATTR_CREATE_QP_CAP, &qp->cap, sizeof(qp->cap));
	qp->sig_all = flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	qp->scatter_cqe = m.flags & MLX5_QP_FLAG_SCATTER_CQE && type != IBV_QPT_UD;
	TRACE("QP %x: flags %x, uidx %x, %u + %u WQEs\n", qp->qpn, m.flags, m.uidx, m.sq_wqe_count, m.rq_wqe_count);
	qp->rq = (char *)(uintptr_t)m.buf_addr;
	qp->rq_cnt = m.rq_wqe_count;
	qp->rq_shift = m.rq_wqe_shift;
	qp->sq = qp->rq + ((uint64_t)m.rq_wqe_count << m.rq_wqe_shift);
	qp->sq_cnt = m.sq_wqe_count;
	qp->doorbells = m.flags & MLX5_QP_FLAG_UAR_PAGE_INDEX ? uar_page(ctx, m.bfreg_index) : NULL;
	qp->db = (void *)(uintptr_t)m.db_addr;
	qp->user = attr_in_number(h, UVERBS_ATTR_CREATE_QP_USER_HANDLE);
	qp->next = sim_qps;
	sim_qps = qp;
	attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	attr_out(h, UVERBS_ATTR_CREATE_QP_RESP_CAP, &qp->cap, sizeof(qp->cap));
	attr_out_u32(h, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->qpn);
	attr_out_object(h, UVERBS_ATTR_CREATE_QP_HANDLE, &qp->o);
	return 0;
}

/* What a change of state needs: as in the kernel's table, less what is optional. */
static int needed(int type, int from, int to)
{
	type = type == IBV_QPT_DRIVER ? IBV_QPT_UD : type; /* SRD of EFA, which has no connections either */
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return 0;
	if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT | (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	if (from == IBV_QPS_INIT && to == IBV_QPS_INIT)
		return 0;
	if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		return type == IBV_QPT_UD ? 0
			: IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
			| (type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
	if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		return IBV_QP_SQ_PSN | (type == IBV_QPT_XRC_RECV ? IBV_QP_TIMEOUT : 0)
			| (type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND
			? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
	if (from == IBV_QPS_RTS && (to == IBV_QPS_RTS || to == IBV_QPS_SQD))
		return 0;
	if (from == IBV_QPS_SQD && (to == IBV_QPS_RTS || to == IBV_QPS_SQD))
		return 0;
	return -1;
}

static int check_path(const struct ib_uverbs_qp_dest *path)
{
	if (!path->is_global)
		return !port_is_infiniband() ? EINVAL : path->dlid != LID ? ENETUNREACH : 0;
	return path->sgid_index >= sim_num_gids ? ENODATA : !is_own_gid(path->dgid) ? ENETUNREACH : 0;
}

int modify_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct ib_uverbs_modify_qp req, *have;
	struct qp *qp;
	int from, to, need, error;
	uint32_t mask;
	attr_in_copy(h, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	mask = req.attr_mask;
	qp = qp_of(ctx, req.qp_handle);
	if (!qp)
		return EINVAL;
	from = mask & IBV_QP_CUR_STATE ? req.cur_qp_state : qp->state;
	to = mask & IBV_QP_STATE ? req.qp_state : from;
	need = needed(qp->type, from, to);
	if (from != (int)qp->state || need < 0 || (need & ~mask))
		return EINVAL;
	if (mask & IBV_QP_PORT && req.port_num != 1)
		return EINVAL;
	if (mask & IBV_QP_PKEY_INDEX && req.pkey_index)
		return EINVAL;
	if (mask & IBV_QP_AV && (error = check_path(&req.dest)))
		return error;
	if (mask & IBV_QP_PATH_MTU && (req.path_mtu < IBV_MTU_256 || req.path_mtu > IBV_MTU_4096))
		return EINVAL;
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC && req.max_rd_atomic > 16)
	    || (mask & IBV_QP_MAX_DEST_RD_ATOMIC && req.max_dest_rd_atomic > 16))
		return EINVAL;
	have = &qp->attr;
#define TAKE(bit, field) if (mask & (bit)) have->field = req.field
	TAKE(IBV_QP_AV, dest);
	TAKE(IBV_QP_ALT_PATH, alt_dest);
	TAKE(IBV_QP_QKEY, qkey);
	TAKE(IBV_QP_RQ_PSN, rq_psn);
	TAKE(IBV_QP_SQ_PSN, sq_psn);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_PATH_MIG_STATE, path_mig_state);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
#undef TAKE
	if (to == IBV_QPS_RESET) {
		memset(have, 0, sizeof(*have));
		engine_qp_reset(qp);
	}
	if (to == IBV_QPS_SQD && from == IBV_QPS_RTS && !qp->efa) {
		qp->drain_event = mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && req.en_sqd_async_notify;
		qp->drain_until = be32toh(qp->db[1]);
	}
	qp->state = to;
	engine_serve(qp);
	if (attr_has(h, UVERBS_ATTR_UHW_OUT)) {
		struct mlx5_ib_modify_qp m;
		struct mlx5_ib_modify_qp_resp resp = {.response_length = sizeof(resp)};
		attr_in_copy(h, UVERBS_ATTR_UHW_IN, &m, sizeof(m));
		resp.ece_options = m.ece_options & ECE_OPTIONS;
		attr_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	}
	return 0;
}

int query_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_query_qp *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct qp *qp = qp_of(ctx, req->qp_handle);
	struct ib_uverbs_query_qp_resp r = {0};
	if (!qp)
		return EINVAL;
	r.dest = qp->attr.dest;
	r.alt_dest = qp->attr.alt_dest;
	r.max_send_wr = qp->cap.max_send_wr;
	r.max_recv_wr = qp->efa ? qp->cap.max_recv_wr : qp->rq_cnt;
	r.max_recv_sge = qp->rq_cnt ? (1u << qp->rq_shift) / 16 : 0;
	r.qkey = qp->attr.qkey;
	r.rq_psn = qp->attr.rq_psn;
	r.sq_psn = qp->attr.sq_psn;
	r.dest_qp_num = qp->attr.dest_qp_num;
	r.qp_access_flags = qp->attr.qp_access_flags;
	r.qp_state = r.cur_qp_state = qp->state;
	r.path_mtu = qp->attr.path_mtu;
	r.path_mig_state = IBV_MIG_MIGRATED;
	r.max_rd_atomic = qp->attr.max_rd_atomic;
	r.max_dest_rd_atomic = qp->attr.max_dest_rd_atomic;
	r.min_rnr_timer = qp->attr.min_rnr_timer;
	r.port_num = qp->attr.port_num;
	r.timeout = qp->attr.timeout;
	r.retry_cnt = qp->attr.retry_cnt;
	r.rnr_retry = qp->attr.rnr_retry;
	r.sq_sig_all = qp->sig_all;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	return 0;
}
