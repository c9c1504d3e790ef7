/* The nodes: this one's number, the connections to the others, and the thread that reads what they send. */
#include "wire.h"
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* What is still to be sent. */
struct parcel {
	struct parcel *next;
	size_t size, sent;
	char bytes[];
};

static struct { bool open; int fd; struct parcel *first, **last; } peers[MAX_NODES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_network;
static int node, listener, wake;
static struct stat directory;

void wire_address(int of, void *address, unsigned int *length)
{
	struct sockaddr_un *a = address;
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX; /* a name that is no file, so it starts with 0 */
	*length = offsetof(struct sockaddr_un, sun_path) + 1
		+ snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "rdma4j-mlx5.%lx.%lx.%d", (long)directory.st_dev,
			(long)directory.st_ino, of);
}

/* Under the lock. False if the node is gone. */
static bool flush(int to)
{
	struct parcel *p;
	while ((p = peers[to].first)) {
		ssize_t n = send(peers[to].fd, p->bytes + p->sent, p->size - p->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		p->sent += n;
		if (p->sent < p->size)
			return true;
		peers[to].first = p->next;
		if (!p->next)
			peers[to].last = &peers[to].first;
		free(p);
	}
	return true;
}

static void drop(int to)
{
	for (struct parcel *p; (p = peers[to].first);) {
		peers[to].first = p->next;
		free(p);
	}
	if (peers[to].open)
		close(peers[to].fd);
	peers[to].open = false;
}

static bool reach(int to)
{
	struct sockaddr_un address;
	unsigned int length;
	int fd;
	if (peers[to].open)
		return true;
	wire_address(to, &address, &length);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, length)) {
		close(fd);
		return false;
	}
	peers[to].open = true;
	peers[to].fd = fd;
	peers[to].first = NULL;
	peers[to].last = &peers[to].first;
	return true;
}

static void wake_thread(void)
{
	uint64_t one = 1;
	if (write(wake, &one, sizeof(one)) < 0)
		abort();
}

/* Sends now what the socket takes, the rest later. False if the node is not there. */
bool wire_send(int to, enum frame_kind kind, const struct iovec *parts, int n)
{
	struct frame head = {.kind = kind, .node = node};
	struct parcel *p;
	bool there, was_open;
	char *at;
	if (!has_network || to < 0 || to >= MAX_NODES || to == node)
		return false;
	for (int i = 0; i < n; i++)
		head.size += parts[i].iov_len;
	p = malloc(sizeof(*p) + sizeof(head) + head.size);
	p->next = NULL;
	p->size = sizeof(head) + head.size;
	p->sent = 0;
	at = mempcpy(p->bytes, &head, sizeof(head));
	for (int i = 0; i < n; i++)
		at = mempcpy(at, parts[i].iov_base, parts[i].iov_len);
	pthread_mutex_lock(&lock);
	was_open = peers[to].open;
	there = reach(to);
	if (there) {
		*peers[to].last = p;
		peers[to].last = &p->next;
		there = flush(to);
		if (!there)
			drop(to);
		else if (peers[to].first || !was_open)
			wake_thread(); /* it has another descriptor to wait for */
	} else {
		free(p);
	}
	pthread_mutex_unlock(&lock);
	return there;
}

bool wire_is_there(int other)
{
	bool there;
	pthread_mutex_lock(&lock);
	there = other == node || reach(other);
	pthread_mutex_unlock(&lock);
	return there;
}

static void lost(int other)
{
	pthread_mutex_lock(&lock);
	drop(other);
	pthread_mutex_unlock(&lock);
	requests_lost(other);
	cm_node_lost(other);
}

/* The nodes that others leave by closing their end, and those to which more can be sent. */
static void serve_peer(int other, short events)
{
	bool there = true;
	pthread_mutex_lock(&lock);
	if (peers[other].open && events & POLLOUT)
		there = flush(other);
	pthread_mutex_unlock(&lock);
	if (!there || events & (POLLHUP | POLLERR))
		lost(other);
}

static void *run(void *unused)
{
	static struct incoming *in[4 * MAX_NODES];
	int num_in = 0;
	for (;;) {
		struct pollfd p[2 + 4 * MAX_NODES + MAX_NODES] = {{.fd = wake, .events = POLLIN}, {.fd = listener, .events = POLLIN}};
		int n = 2, of[MAX_NODES], readers = num_in;
		uint64_t count;
		for (int i = 0; i < num_in; i++)
			p[n++] = (struct pollfd){.fd = incoming_fd(in[i]), .events = POLLIN};
		pthread_mutex_lock(&lock);
		for (int i = 0; i < MAX_NODES; i++)
			if (peers[i].open) {
				of[n - 2 - readers] = i;
				p[n++] = (struct pollfd){.fd = peers[i].fd, .events = peers[i].first ? POLLOUT : 0};
			}
		pthread_mutex_unlock(&lock);
		if (poll(p, n, -1) < 0)
			continue;
		if (p[0].revents && read(wake, &count, sizeof(count)) < 0)
			abort();
		for (int i = readers - 1; i >= 0; i--)
			if (p[2 + i].revents && !incoming_read(in[i])) {
				int other = incoming_node(in[i]);
				incoming_free(in[i]);
				in[i] = in[--num_in];
				if (other >= 0)
					lost(other);
			}
		for (int i = 2 + readers; i < n; i++)
			if (p[i].revents)
				serve_peer(of[i - 2 - readers], p[i].revents);
		if (p[1].revents && num_in < 4 * MAX_NODES) {
			int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
			if (fd >= 0)
				in[num_in++] = incoming_new(fd);
		}
	}
	return unused;
}

static void join(void)
{
	const char *name = getenv("MLX5SIM_NETWORK");
	struct sockaddr_un address;
	unsigned int length;
	pthread_t thread;
	int fd, first, tried;
	if (!name || !*name)
		return;
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &directory)) {
		fprintf(stderr, "mlx5sim: MLX5SIM_NETWORK must name a directory: %s: %s\n", name, strerror(errno));
		exit(1);
	}
	first = ports_open(fd);
	close(fd);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	for (tried = 0; tried < MAX_NODES; tried++) {
		node = (first + tried) % MAX_NODES;
		wire_address(node, &address, &length);
		if (!bind(listener, (struct sockaddr *)&address, length))
			break;
	}
	wake = eventfd(0, EFD_CLOEXEC);
	if (tried == MAX_NODES || wake < 0 || listen(listener, 64)) {
		fprintf(stderr, "mlx5sim: no place in the network %s, which has %d\n", name, MAX_NODES);
		exit(1);
	}
	ports_clear(node);
	has_network = true;
	pthread_create(&thread, NULL, run, NULL);
	pthread_detach(thread);
	TRACE("node %d\n", node);
}

int wire_node(void)
{
	pthread_once(&once, join);
	return node;
}

bool wire_has_network(void)
{
	pthread_once(&once, join);
	return has_network;
}

/* In a network, the node is in the upper bits, so that other nodes know where a queue pair is. */
uint32_t wire_queue_pair_number(uint32_t number)
{
	return wire_has_network() ? (uint32_t)node << NODE_SHIFT | (number & ((1u << NODE_SHIFT) - 1)) : number;
}
