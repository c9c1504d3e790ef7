/* What stand-ins need to know of the version of the headers, RDMA_CORE. */
#include <stddef.h>
#include <infiniband/verbs.h>

/*
 * The verbs_context of a context that a test makes. Its size depends on the version, so tests name it by the context,
 * which is its last field.
 */
static inline struct verbs_context *extended_of(struct ibv_context *context)
{
	return (void *)((uintptr_t)context - offsetof(struct verbs_context, context));
}

/* What the headers of newer versions declare, for tests with older headers. */
#if RDMA_CORE < 45
struct newer_qp_ex {
	struct ibv_qp_ex older;
	void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len, uint8_t type,
			 uint8_t level);
};

static inline void ibv_wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len,
				uint8_t type, uint8_t level)
{
	((struct newer_qp_ex *)qp)->wr_flush(qp, rkey, remote_addr, len, type, level);
}
#else
#define newer_qp_ex ibv_qp_ex
#endif
