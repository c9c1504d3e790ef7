/* One timer for each identifier, in a list sorted by when they run out, and the thread that waits for the first. */
#include "cm.h"
#include <time.h>

static struct cm_id *first, *last;
static pthread_cond_t changed;
static pthread_mutex_t wait_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t first_due; /* under wait_lock */

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void *run(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&wait_lock);
		while (!first_due || first_due > now_ms()) {
			struct timespec until = {.tv_sec = first_due / 1000, .tv_nsec = first_due % 1000 * 1000000};
			if (first_due)
				pthread_cond_timedwait(&changed, &wait_lock, &until);
			else
				pthread_cond_wait(&changed, &wait_lock);
		}
		pthread_mutex_unlock(&wait_lock);
		cm_enter();
		while (first && first->due <= now_ms()) {
			struct cm_id *id = first;
			timer_stop(id);
			link_timer(id);
		}
		cm_leave();
	}
	return unused;
}

static void start_thread(void)
{
	pthread_condattr_t clock;
	pthread_t thread;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &clock);
	pthread_create(&thread, NULL, run, NULL);
	pthread_detach(thread);
}

static void publish(void)
{
	pthread_mutex_lock(&wait_lock);
	first_due = first ? first->due : 0;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&wait_lock);
}

/* Most run for the same time, so that the place is found quickly from the end. */
void timer_start(struct cm_id *id, uint64_t ms)
{
	static pthread_once_t started = PTHREAD_ONCE_INIT;
	struct cm_id *before;
	pthread_once(&started, start_thread);
	timer_stop(id);
	id->due = now_ms() + ms;
	for (before = last; before && before->due > id->due; before = before->prev_timer)
		;
	id->prev_timer = before;
	id->next_timer = before ? before->next_timer : first;
	*(id->next_timer ? &id->next_timer->prev_timer : &last) = id;
	*(before ? &before->next_timer : &first) = id;
	if (first == id)
		publish();
}

void timer_stop(struct cm_id *id)
{
	bool was_first = first == id;
	if (!id->due)
		return;
	*(id->prev_timer ? &id->prev_timer->next_timer : &first) = id->next_timer;
	*(id->next_timer ? &id->next_timer->prev_timer : &last) = id->prev_timer;
	id->due = 0;
	if (was_first)
		publish();
}

/* Lets all times be over that run now, and those that start because of that. The lock is held. */
void timers_expire(void)
{
	while (first) {
		struct cm_id *id = first;
		timer_stop(id);
		link_timer(id);
	}
}
