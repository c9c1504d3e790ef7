/*
 * What newer headers than those of rdma-core 44 declare, for tests with any headers: numbers and structs under names of
 * their own, as rdma-core 65 has them. The tests of the bindings compare the same with the headers.
 */
#ifndef NEWER_H
#define NEWER_H

#include "standin.h"

enum {
	NEWER_QP_EX_WITH_FLUSH = 1 << 11,
	NEWER_FLUSH_GLOBAL = 1 << 0,
	NEWER_FLUSH_PERSISTENT = 1 << 1,
	NEWER_FLUSH_RANGE = 0,
	NEWER_FLUSH_MR = 1,
	NEWER_ACCESS_FLUSH_GLOBAL = 1 << 8,
	NEWER_ACCESS_FLUSH_PERSISTENT = 1 << 9,
};

/* Functions. */

struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_mr_init_attr;
struct ibv_comp_cntr;
struct ibv_comp_cntr_caps;
struct ibv_comp_cntr_init_attr;
struct ibv_qp_attach_comp_cntr_attr;

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);
struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr);
int ibv_dealloc_dmah(struct ibv_dmah *dmah);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);
int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps, size_t caps_size);
struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context, struct ibv_comp_cntr_init_attr *cc_attr);
int ibv_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr);
int ibv_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);
int ibv_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);
int ibv_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
int ibv_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
int ibv_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
			    struct ibv_qp_attach_comp_cntr_attr *attr);

struct rdma_cm_id;
struct rdma_addrinfo;

int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

enum { NEWER_CM_EVENT_USER = 18, NEWER_RAI_SA = 0x10 };

/* Structs and their numbers. */

enum {
	NEWER_DMAH_MASK_CPU_ID = 1 << 0,
	NEWER_DMAH_MASK_PH = 1 << 1,
	NEWER_DMAH_MASK_TPH_MEM_TYPE = 1 << 2,
	NEWER_TPH_MEM_TYPE_PM = 1,
	NEWER_REG_MR_MASK_IOVA = 1 << 0,
	NEWER_REG_MR_MASK_ADDR = 1 << 1,
	NEWER_REG_MR_MASK_FD = 1 << 2,
	NEWER_REG_MR_MASK_FD_OFFSET = 1 << 3,
	NEWER_REG_MR_MASK_DMAH = 1 << 4,
	NEWER_COMP_CNTR_TYPE_BYTES = 1,
	NEWER_COMP_CNTR_OP_SEND = 1 << 0,
	NEWER_COMP_CNTR_OP_REMOTE_RDMA_WRITE = 1 << 5,
	NEWER_DATA_IN_ORDER_RETURN_CAPS = 1 << 0,
	NEWER_DATA_IN_ORDER_DEVICE_ONLY = 1 << 1,
};

struct newer_dmah {
	struct ibv_context *context;
};

struct newer_dmah_init_attr {
	uint32_t comp_mask;
	uint32_t cpu_id;
	uint8_t ph;
	uint8_t tph_mem_type;
};

struct newer_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
	void *buf;
};

struct newer_comp_cntr {
	struct ibv_context *context;
	uint32_t handle;
};

struct newer_comp_cntr_caps {
	uint64_t max_value;
	uint32_t max_counters;
	uint32_t supported_qp_attach_ops;
};

struct newer_comp_cntr_init_attr {
	uint32_t comp_mask;
	int type;
	uint32_t flags;
};

struct newer_qp_attach_comp_cntr_attr {
	uint32_t comp_mask;
	uint32_t op_mask;
};

/* The latest objects. */
extern struct ibv_dmah *latest_dmah;
extern struct ibv_comp_cntr *latest_comp_cntr;

/*
 * The operations that precede query_port in a new verbs_context, by their distance from it. An old one has none of
 * them, so its memory has to begin earlier.
 */
enum { NEWER_ALLOC_DMAH = 1, NEWER_DM_EXPORT_DMABUF_FD = 4, NEWER_OPERATIONS = 6 };

#define NEWER_BYTES (NEWER_OPERATIONS * sizeof(void *) - offsetof(struct verbs_context, query_port))

static inline void **newer_operation(struct verbs_context *verbs, int distance)
{
	return (void **)&verbs->query_port - distance;
}

/* The offset of ibv_port_attr.active_speed_ex. */
enum { NEWER_ACTIVE_SPEED_EX = (offsetof(struct ibv_port_attr, port_cap_flags2) + 2 + 3) / 4 * 4 };

/* Requests. */

typedef void (*newer_wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len, uint8_t type,
			       uint8_t level);

/* Returns qp->wr_flush, which follows the last member of an old ibv_qp_ex. */
static inline newer_wr_flush *newer_wr_flush_of(struct ibv_qp_ex *qp)
{
	return (newer_wr_flush *)(&qp->wr_atomic_write + 1);
}

#endif
