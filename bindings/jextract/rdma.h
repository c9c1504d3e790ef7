/* The headers that jextract reads: the verbs, the connection manager, and the address types that both use. */
#include <sys/socket.h>
#include <netinet/in.h>
#include <time.h>
#include <infiniband/verbs.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
