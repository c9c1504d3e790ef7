/* Flow rules, actions and counters: accepted and kept. Which packets match is not simulated, so counters stay at zero. */
#include "kernel.h"

/* Each specification begins with its type, and the size of it. */
static bool well_formed(const struct ib_uverbs_flow_attr *attr, size_t room)
{
	const char *at = (const char *)(attr + 1);
	size_t left = attr->size;
	if (left > room)
		return false;
	for (int i = 0; i < attr->num_of_specs; i++) {
		const struct ib_uverbs_flow_spec_hdr *each = (const void *)at;
		if (left < sizeof(*each) || each->size < sizeof(*each) || each->size > left)
			return false;
		at += each->size;
		left -= each->size;
	}
	return !left;
}

int create_flow(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	const struct ib_uverbs_create_flow *req = attr_in(h, UVERBS_ATTR_CORE_IN);
	struct ib_uverbs_create_flow_resp resp = {0};
	struct qp *qp = (struct qp *)sim_obj(ctx, req->qp_handle, O_QP);
	struct flow *flow;
	if (!qp || (qp->type != IBV_QPT_UD && qp->type != IBV_QPT_RAW_PACKET) || req->flow_attr.port != 1
	    || !well_formed(&req->flow_attr, attr(h, UVERBS_ATTR_CORE_IN)->len - sizeof(*req)))
		return EINVAL;
	flow = object_new(ctx, sizeof(*flow), O_FLOW);
	flow->qp = &qp->o;
	used(flow->qp);
	resp.flow_handle = flow->o.handle;
	attr_out(h, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return 0;
}

int create_counters(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	attr_out_object(h, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, object_new(ctx, sizeof(struct simple), O_COUNTERS));
	return 0;
}

int read_counters(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	static const uint64_t zeros[64];
	if (!sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_READ_COUNTERS_HANDLE), O_COUNTERS))
		return EINVAL;
	attr_out(h, UVERBS_ATTR_READ_COUNTERS_BUFF, zeros, sizeof(zeros));
	return 0;
}

/* The keys of IPsec: nothing is encrypted. */
int create_action(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	if (!attr_has(h, UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS) || !attr_has(h, UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT))
		return EINVAL;
	attr_out_object(h, UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, object_new(ctx, sizeof(struct simple), O_ACTION));
	return 0;
}

int modify_action(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	return sim_obj(ctx, attr_in_number(h, UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE), O_ACTION) ? 0 : EINVAL;
}
