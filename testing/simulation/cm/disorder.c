/*
 * Disorder on the way of the messages. While a test keeps them back, it says which one arrives next, which one never does,
 * and when the side that waits for it gives up; and it can take the device away.
 */
#include "cm.h"

static bool keeping;
static struct message *kept;
static int num_kept;

/* Whether the message waits for the test. */
bool keep_back(struct message *m)
{
	struct message **end = &kept;
	if (!keeping)
		return false;
	while (*end)
		end = &(*end)->next;
	m->next = NULL;
	*end = m;
	num_kept++;
	return true;
}

static struct message *take(int index)
{
	struct message **at = &kept, *m;
	while (index--)
		at = &(*at)->next;
	m = *at;
	*at = m->next;
	num_kept--;
	return m;
}

/* Keeps back what is sent from now on, or delivers all that was kept back, in the order in which it was sent. */
EXPORT void mlx5sim_keep_messages(bool keep)
{
	cm_enter();
	keeping = keep;
	while (!keep && num_kept)
		message_release(take(0));
	cm_leave();
}

/* How many messages are kept back. */
EXPORT int mlx5sim_kept_messages(void)
{
	int count;
	cm_enter();
	count = num_kept;
	cm_leave();
	return count;
}

/* Delivers the message with that index, from 0, or loses it. False if there are fewer. */
EXPORT bool mlx5sim_message(int index, bool lose)
{
	bool known;
	cm_enter();
	known = index >= 0 && index < num_kept;
	if (known) {
		struct message *m = take(index);
		if (lose)
			free(m);
		else
			message_release(m);
	}
	cm_leave();
	return known;
}

/* All that waits for an answer, gives up now. */
EXPORT void mlx5sim_expire(void)
{
	cm_enter();
	timers_expire();
	cm_leave();
}

/* As when the device is removed: each identifier that uses it learns of that. The device should break as well. */
EXPORT void mlx5sim_remove(void)
{
	cm_enter();
	for (uint32_t handle = 0; handle < MAX_IDS; handle++) {
		struct cm_id *id = cm_id_at(handle);
		if (id && id->has_device)
			cm_event(id, DEVICE_REMOVAL, 0);
	}
	cm_leave();
}
