/* The functions of libibverbs that rdma-core 44 does not have. */
#include "newer.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct ibv_dmah *latest_dmah;
struct ibv_comp_cntr *latest_comp_cntr;

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
	CALLED();
	POINTER(context);
	NUMBER(port_num);
	*port_speed = 0x100000000 + port_num;
	return answered();
}

struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *init)
{
	struct newer_dmah_init_attr *attr = (void *)init;
	CALLED();
	POINTER(context);
	BYTES(*attr);
	struct newer_dmah *dmah = create(sizeof *dmah);
	dmah->context = context;
	return latest_dmah = (void *)dmah;
}

int ibv_dealloc_dmah(struct ibv_dmah *dmah)
{
	CALLED();
	POINTER(dmah);
	return 0;
}

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *init)
{
	struct newer_mr_init_attr attr = *(struct newer_mr_init_attr *)(void *)init;
	int has_address = attr.addr != NULL;
	CALLED();
	POINTER(pd);
	NUMBER(has_address);
	attr.addr = NULL;
	BYTES(attr);
	return create_mr(pd, ((struct newer_mr_init_attr *)(void *)init)->addr, attr.length);
}

int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	CALLED();
	POINTER(dm);
	int errnum = answered();
	if (errnum) {
		errno = errnum;
		return -1;
	}
	return dup(0);
}

int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps, size_t caps_size)
{
	struct newer_comp_cntr_caps known = {
		.max_value = 0xfedcba9876543210,
		.max_counters = 0x1234,
		.supported_qp_attach_ops = NEWER_COMP_CNTR_OP_SEND | NEWER_COMP_CNTR_OP_REMOTE_RDMA_WRITE,
	};
	(void)context;
	memcpy(caps, &known, caps_size < sizeof known ? caps_size : sizeof known);
	return 0;
}

struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context, struct ibv_comp_cntr_init_attr *init)
{
	struct newer_comp_cntr_init_attr *attr = (void *)init;
	CALLED();
	POINTER(context);
	BYTES(*attr);
	struct newer_comp_cntr *counter = create(sizeof *counter);
	counter->context = context;
	return latest_comp_cntr = (void *)counter;
}

int ibv_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr)
{
	CALLED();
	POINTER(comp_cntr);
	return 0;
}

int ibv_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value)
{
	CALLED();
	POINTER(comp_cntr);
	NUMBER(value);
	return answered();
}

int ibv_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value)
{
	CALLED();
	POINTER(comp_cntr);
	NUMBER(value);
	return 0;
}

int ibv_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount)
{
	CALLED();
	POINTER(comp_cntr);
	NUMBER(amount);
	return 0;
}

int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount)
{
	CALLED();
	POINTER(comp_cntr);
	NUMBER(amount);
	return 0;
}

int ibv_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value)
{
	CALLED();
	POINTER(comp_cntr);
	*value = 0xf1f2f3f4f5f6f7f8;
	return 0;
}

int ibv_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value)
{
	CALLED();
	POINTER(comp_cntr);
	*value = 0xe1e2e3e4e5e6e7e8;
	return 0;
}

int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
			    struct ibv_qp_attach_comp_cntr_attr *init)
{
	struct newer_qp_attach_comp_cntr_attr *attr = (void *)init;
	CALLED();
	POINTER(qp);
	POINTER(comp_cntr);
	BYTES(*attr);
	return answered();
}
