/*
 * Faults that an adapter can have. Tests call these functions: a request fails with a chosen syndrome, the port goes down,
 * the device breaks, or everything takes longer.
 */
#include "adapter.h"

static bool port_is_down, device_is_broken;
static uint64_t pause_of_requests;

/* Lets a request of a queue pair fail: the next one, or the one after that many. False if there is no such queue pair. */
EXPORT bool mlx5sim_fail(uint32_t qpn, int after, int syndrome)
{
	struct qp *qp;
	pthread_mutex_lock(&sim_lock);
	qp = peer_of(qpn);
	if (qp) {
		qp->fault_after = after;
		qp->fault_syndrome = syndrome;
	}
	pthread_mutex_unlock(&sim_lock);
	return qp != NULL;
}

static void tell_all(enum ibv_event_type event, uint64_t element)
{
	for (struct context *ctx = sim_contexts; ctx; ctx = ctx->next)
		event_push(ctx->async, NULL, NULL, element, event);
}

/* The cable is pulled, or put in again. While it is out, nothing arrives. */
EXPORT void mlx5sim_port(bool up)
{
	pthread_mutex_lock(&sim_lock);
	if (port_is_down == up)
		tell_all(up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, 1);
	port_is_down = !up;
	pthread_mutex_unlock(&sim_lock);
}

bool port_down(void)
{
	return port_is_down;
}

/*
 * The adapter stops working, or is as new again for contexts that are opened afterwards. As with Linux, each queue pair
 * is flushed, commands fail with EIO, and objects can be destroyed.
 */
EXPORT void mlx5sim_break(bool broken)
{
	pthread_mutex_lock(&sim_lock);
	device_is_broken = broken;
	if (broken) {
		tell_all(IBV_EVENT_DEVICE_FATAL, 0);
		for (struct qp *qp = sim_qps; qp; qp = qp->next)
			if (qp->state != IBV_QPS_RESET)
				to_error(qp);
	}
	pthread_mutex_unlock(&sim_lock);
}

bool device_broken(void)
{
	return device_is_broken;
}

/* Each request takes at least this long. */
EXPORT void mlx5sim_slow(uint64_t nanoseconds)
{
	pthread_mutex_lock(&sim_lock);
	pause_of_requests = nanoseconds;
	pthread_mutex_unlock(&sim_lock);
}

/* True if the adapter has not got to the next request of the queue pair yet. */
bool not_yet(struct qp *qp)
{
	uint64_t now;
	if (!pause_of_requests)
		return false;
	now = sim_now();
	if (!qp->busy_until) {
		qp->busy_until = now + pause_of_requests;
		return true;
	}
	if (now < qp->busy_until)
		return true;
	qp->busy_until = 0;
	return false;
}

/* The syndrome that a test has asked for, or 0. */
int chosen_fault(struct qp *qp)
{
	int syndrome = qp->fault_syndrome;
	if (!syndrome || qp->fault_after-- > 0)
		return 0;
	qp->fault_syndrome = 0;
	return syndrome;
}
