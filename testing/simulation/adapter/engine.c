/*
 * The thread of the adapter. It learns of requests from the doorbell records (libmlx5 updates one before each write to a
 * UAR), so it need not see the UAR.
 */
#include "adapter.h"
#include <time.h>
#include <unistd.h>

static int flush(struct qp *qp, uint16_t posted)
{
	int done = 0;
	struct wqe w;
	while (qp->sq_ci != posted) {
		if (!parse_request(qp, &w))
			w.ds = 4;
		put_error(qp, qp->scq, MLX5_CQE_REQ_ERR, qp->sq_ci, w.opcode, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
		qp->sq_ci += (w.ds + 3) / 4;
		done++;
	}
	if (qp->srq) {
		if (!qp->last_wqe) {
			qp->last_wqe = true;
			qp_async(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
		}
		return done;
	}
	while (qp->rq_cnt && has_receive(qp)) {
		put_error(qp, qp->rcq, MLX5_CQE_RESP_ERR, qp->rq_ci, 0, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
		qp->rq_ci++;
		done++;
	}
	return done;
}

void engine_qp_reset(struct qp *qp)
{
	qp->sq_ci = qp->rq_ci = 0;
	qp->tries = 0;
	qp->wait_until = 0;
	qp->waits_for_peer = qp->waits_for_receive = qp->established = qp->last_wqe = false;
	qp->num_flights = qp->windows_ahead = 0;
	qp->epoch++;
	qp->refused_epoch = 0;
	qp->not_before = 0;
	if (qp->efa)
		efa_qp_reset(qp);
	else
		qp->db[0] = qp->db[1] = 0;
}

static int serve(struct qp *qp)
{
	int done = 0;
	uint16_t posted;
	if (qp->efa)
		return efa_serve(qp);
	posted = be32toh(atomic_load_explicit(&qp->db[1], memory_order_acquire));
	if (qp->state == IBV_QPS_ERR)
		return flush(qp, posted);
	if (qp->state == IBV_QPS_SQD)
		posted = qp->drain_until;
	else if (qp->state != IBV_QPS_RTS)
		return 0;
	for (int budget = 64; qp->sq_ci != posted && budget; budget--) {
		struct wqe w;
		enum outcome outcome;
		if (!parse_request(qp, &w)) {
			fprintf(stderr, "mlx5sim: QP %x: no request at %u\n", qp->qpn, qp->sq_ci);
			w.opcode = 0;
			w.index = qp->sq_ci;
			w.ds = 4;
			fail_request(qp, &w, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
			return done + 1;
		}
		if (not_yet(qp))
			break;
		outcome = execute(qp, &w);
		if (outcome == WAIT)
			break;
		done++;
		if (outcome == FAILED)
			break;
	}
	if (qp->state == IBV_QPS_SQD && qp->sq_ci == posted && qp->drain_event) {
		qp->drain_event = false;
		qp_async(qp, IBV_EVENT_SQ_DRAINED);
	}
	return done;
}

/* After a change of state, so that its effects are there when the command ends. */
void engine_serve(struct qp *qp)
{
	if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_SQD)
		serve(qp);
}

/* One round over all queues. Returns how many requests it has done. */
EXPORT int mlx5sim_step(void)
{
	int done = 0;
	pthread_mutex_lock(&sim_lock);
	clock_tick();
	for (struct qp *qp = sim_qps; qp; qp = qp->next)
		done += serve(qp);
	for (struct cq *cq = sim_cqs; cq; cq = cq->next)
		if (!cq->efa)
			check_armed(cq);
	pthread_mutex_unlock(&sim_lock);
	return done;
}

static void *run(void *unused)
{
	int idle = 0, spins = getenv("MLX5SIM_SPINS") ? atoi(getenv("MLX5SIM_SPINS")) : 200;
	for (;;) {
		if (mlx5sim_step()) {
			idle = 0;
		} else if (++idle < spins) {
			__builtin_ia32_pause();
		} else {
			struct timespec t = {.tv_nsec = 20000};
			nanosleep(&t, NULL);
		}
	}
	return unused;
}

/* MLX5SIM_ENGINE=manual leaves it to the program to call mlx5sim_step. */
void engine_start(void)
{
	static bool started;
	pthread_t thread;
	const char *mode = getenv("MLX5SIM_ENGINE");
	sim_sink = getenv("MLX5SIM_SINK") != NULL;
	if (started || (mode && !strcmp(mode, "manual")))
		return;
	started = true;
	pthread_create(&thread, NULL, run, NULL);
	pthread_detach(thread);
}
