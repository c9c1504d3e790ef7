/* The functions of libefa, for which every device is one of EFA. */
#include "standin.h"
#include <infiniband/efadv.h>
#include <string.h>

static const uint8_t SENDER[16] = {0xfe, 0x80, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

int efadv_query_device(struct ibv_context *context, struct efadv_device_attr *attr, uint32_t inlen)
{
	(void)context;
	memset(attr, 0, inlen);
	attr->max_sq_wr = 0x71727374;
	attr->max_rq_wr = 0x61626364;
	attr->max_sq_sge = 0xf1f2;
	attr->max_rq_sge = 0xe1e2;
	attr->inline_buf_size = 0xd1d2;
	attr->device_caps = 0x0f;
	attr->max_rdma_size = 0xc1c2c3c4;
	return 0;
}

int efadv_query_ah(struct ibv_ah *ah, struct efadv_ah_attr *attr, uint32_t inlen)
{
	CALLED();
	POINTER(ah);
	memset(attr, 0, inlen);
	attr->ahn = 0xb1b2;
	return 0;
}

struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init,
				  struct efadv_qp_init_attr *efa, uint32_t inlen)
{
	CALLED();
	POINTER(context);
	BYTES(*init);
	bytes("efa", efa, inlen);
	return create_qp(context, init);
}

struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *init,
				  struct efadv_cq_init_attr *efa, uint32_t inlen)
{
	CALLED();
	POINTER(context);
	BYTES(*init);
	bytes("efa", efa, inlen);
	create_cq(context, init->channel, init->cqe);
	return latest.cq_ex;
}

static int read_sgid(struct efadv_cq *cq, union ibv_gid *sgid)
{
	(void)cq;
	memcpy(sgid, SENDER, sizeof SENDER);
	return 0;
}

struct efadv_cq *efadv_cq_from_ibv_cq_ex(struct ibv_cq_ex *cq)
{
	static struct efadv_cq efa = {.wc_read_sgid = read_sgid};
	(void)cq;
	return &efa;
}
