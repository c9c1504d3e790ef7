/* What arrives on a connection from another node: frames, each a head and as many bytes as the head says. */
#include "wire.h"
#include <unistd.h>

struct incoming {
	int fd, node;
	struct frame head;
	char *body;
	uint64_t have; /* of the head and the body */
};

struct incoming *incoming_new(int fd)
{
	struct incoming *in = calloc(1, sizeof(*in));
	in->fd = fd;
	in->node = -1;
	return in;
}

int incoming_fd(struct incoming *in)
{
	return in->fd;
}

int incoming_node(struct incoming *in)
{
	return in->node;
}

void incoming_free(struct incoming *in)
{
	close(in->fd);
	free(in->body);
	free(in);
}

static void arrived(struct incoming *in)
{
	in->node = in->head.node;
	switch (in->head.kind) {
	case FRAME_CM: cm_frame_arrived(in->body, in->head.size); break;
	case FRAME_REQUEST: request_arrived(in->node, in->body, in->head.size); break;
	default: answer_arrived(in->body, in->head.size); break;
	}
}

bool incoming_read(struct incoming *in)
{
	for (;;) {
		const size_t head = sizeof(in->head);
		bool in_head = in->have < head;
		char *at = in_head ? (char *)&in->head + in->have : in->body + (in->have - head);
		ssize_t n = read(in->fd, at, in_head ? head - in->have : head + in->head.size - in->have);
		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR);
		in->have += n;
		if (in->have == head)
			in->body = malloc(in->head.size);
		if (in->have >= head && in->have == head + in->head.size) {
			arrived(in);
			free(in->body);
			in->body = NULL;
			in->have = 0;
		}
	}
}
