/* Messages on their way: those that a command or an arrival sends are delivered in order, one after the other. */
#include "cm.h"

static struct message *first, **last = &first;

void message_send(const struct message *m)
{
	struct message *copy = malloc(sizeof(*copy));
	*copy = *m;
	copy->next = NULL;
	*last = copy;
	last = &copy->next;
}

/* An arrival may send messages, which are then delivered as well. */
void messages_deliver(void)
{
	struct message *m;
	while ((m = first)) {
		first = m->next;
		if (!first)
			last = &first;
		message_arrived(m);
		free(m);
	}
}
