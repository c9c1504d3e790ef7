/*
 * A simulated EFA, the adapter of Amazon's machines: what its files need of each other. It has datagrams, and reliable ones
 * (SRD), which only extended queue pairs of its own type have. All memory of its queues is the device's, and mapped.
 */
#pragma once
#include "../adapter/adapter.h"
#include "../kernel/kernel.h"
#include <rdma/efa-abi.h>

enum { SUB_QUEUES = 2, SENDS = 0, RECEIVES = 1 }; /* parts of a completion queue */
enum { EFA_MAX_QP = 256, EFA_MAX_WR = 1024, EFA_MTU = 8928, INLINE_BYTES = 32, EFA_MAX_TRANSFER = 1 << 30 };
enum { CAPS_RDMA_WRITE = 1 << 5 }; /* newer than the header of rdma-core 44 */

/* Memory of the device that a program can map. */
struct pages { int file; char *at; size_t size; uint64_t key; };
bool pages_new(struct pages *p, size_t size);
void pages_free(struct pages *p);

struct efa_cq {
	struct pages pages;
	uint32_t entries, entry_size;
	bool with_source; /* completions have the address of an unknown sender */
	uint32_t written[SUB_QUEUES];
};
struct efa_qp {
	struct pages sends, receives, doorbells; /* the first word for sends, the second one for receives */
	uint32_t num_sends, num_receives; /* blocks of 64 bytes, and pieces of 16 */
	bool reliable;
	uint64_t since; /* when a send began to wait for a receive, or 0 */
};

int efa_query_device(struct ib_uverbs_ioctl_hdr *h);
int efa_create_cq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int efa_create_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
