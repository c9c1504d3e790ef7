/* Address handles and multicast groups. */
#include "kernel.h"

int attach_group(struct context *ctx, struct ib_uverbs_ioctl_hdr *h, bool attach)
{
	const struct ib_uverbs_attach_mcast *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct qp *qp = (struct qp *)sim_obj(ctx, req->qp_handle, O_QP);
	if (!qp || qp->type != IBV_QPT_UD)
		return EINVAL;
	for (int i = 0; i < qp->num_groups; i++)
		if (!memcmp(qp->groups[i], req->gid, 16)) {
			if (!attach)
				memcpy(qp->groups[i], qp->groups[--qp->num_groups], 16);
			return 0;
		}
	if (!attach)
		return EINVAL;
	if (qp->num_groups == 8)
		return ENOMEM;
	memcpy(qp->groups[qp->num_groups++], req->gid, 16);
	return 0;
}

int create_ah(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_create_ah *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct pd *pd = (struct pd *)sim_obj(ctx, req->pd_handle, O_PD);
	struct mlx5_ib_create_ah_resp m = {.response_length = sizeof(m), .dmac = {0xb8, 0x3f, 0xd2, 0x12, 0x34, 0x56}};
	struct ib_uverbs_create_ah_resp resp = {0};
	struct ah *ah;
	if (!pd || req->attr.port_num != 1 || !req->attr.is_global)
		return EINVAL;
	if (req->attr.grh.sgid_index >= sim_num_gids)
		return ENODATA;
	ah = object_new(ctx, sizeof(*ah), O_AH);
	ah->pd = pd;
	pd->o.users++;
	resp.ah_handle = ah->o.handle;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	attr_out(h, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
	return 0;
}
