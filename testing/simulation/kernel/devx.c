/*
 * DevX: commands in the format of the firmware, big-endian words with fields of bits. The capabilities are those that the
 * device has anyway. Of the objects there are those that stand for themselves: domains, counters, and the contexts of
 * transmit interfaces (TIS), which are read as they were written. No packet meets them.
 */
#include "kernel.h"
#include <unistd.h>

enum { QUERY_HCA_CAP = 0x100, QUERY_ADAPTER = 0x101 };
enum { GENERAL = 0, ODP = 2, ATOMIC = 3, ROCE = 4, QOS = 12 }; /* kinds of capabilities */
enum { OK, BAD_PARAMETER = 3, BAD_RESOURCE = 5, BAD_INPUT_LENGTH = 0x50, BAD_OUTPUT_LENGTH = 0x51 }; /* the first byte of an answer */
enum { HEADER = 16, MAX_COMMAND = 512, CAPABILITIES = 4096, VENDOR = 0x2c9 };
enum { ID = 0x40 }; /* the bit where the number of an object is in most commands and answers */

/* Where a field is, by the first of its bits and their number. */
struct field { uint16_t bit; uint8_t width; };
static const struct { struct field field; uint32_t value; } capabilities[] = {
	{{0x80, 8}, LOG_MAX_SRQ_SIZE}, {{0x88, 8}, LOG_MAX_QP_SIZE}, {{0x9b, 5}, LOG_MAX_QP}, {{0xab, 5}, LOG_MAX_SRQ},
	{{0xc8, 8}, LOG_MAX_CQ_SIZE}, {{0xdb, 5}, LOG_MAX_CQ}, {{0xea, 6}, LOG_MAX_MKEY},
	{{0xf8, 1}, 1}, /* the region that is no memory */
	{{0x119, 1}, 1}, /* null regions */
	{{0x14a, 6}, LOG_MAX_READS}, {{0x15a, 6}, LOG_MAX_READS},
	{{0x1a8, 1}, 1}, /* device memory */
	{{0x1ab, 5}, ACK_DELAY},
	{{0x1b8, 8}, 1}, /* ports */
	{{0x1c3, 5}, LOG_MAX_MESSAGE},
	{{0x1fc, 4}, 1}, /* the version of completions */
	{{0x215, 1}, 1}, /* short messages in completions */
	{{0x21d, 1}, 1}, /* RoCE */
	{{0x21e, 1}, 1}, /* atomics */
	{{0x220, 1}, 1}, {{0x221, 1}, 1}, {{0x222, 1}, 1}, /* completion queues: overrun ignored, resized, moderated */
	{{0x227, 1}, 1}, /* paging on demand */
	{{0x23c, 1}, 1}, {{0x23d, 1}, 1}, {{0x23e, 1}, 1}, {{0x23f, 1}, 1}, /* XRC, UD, UC and RC */
	{{0x240, 1}, 1}, /* doorbell pages of 4 KiB */
	{{0x260, 1}, 1}, {{0x26b, 5}, LOG_BLUEFLAME}, /* requests in doorbell registers */
	{{0x290, 16}, MAX_SEND_REQUEST}, {{0x2b0, 16}, MAX_RECEIVE_REQUEST},
	{{0x318, 8}, LOG_MAX_GROUPS}, {{0x32b, 5}, LOG_MAX_PD},
	{{0x4c0, 32}, CLOCK_KHZ / 1000}, {{0x4e0, 32}, CLOCK_KHZ},
	{{0x5f0, 1}, 1}, {{0x5f3, 5}, LOG_MAX_TAGS}, /* tag matching */
};

struct kind {
	uint16_t create, destroy, query, modify; /* commands, or 0 */
	uint16_t query_id; /* the bit where a query has the number */
	uint16_t size; /* of the context, which creation and changes have at byte 32, and queries return at byte 16 */
};
static const struct kind kinds[] = {
	{0x800, 0x801, 0, 0, 0, 0}, /* protection domain */
	{0x816, 0x817, 0, 0, 0, 0}, /* transport domain */
	{0x939, 0x93a, 0x93b, 0, 0xe0, 16}, /* flow counter: packets and bytes */
	{0x912, 0x914, 0x915, 0x913, ID, 160}, /* TIS */
};
static const struct kind *const transport_domain = &kinds[1], *const tis = &kinds[3];

/* What a change of a TIS may name: the bit of its mask, and the field. */
static const struct { uint16_t mask; struct field field; } tis_changes[] = {
	{0xbd, {4, 4}}, {0xbe, {0, 1}}, {0xbf, {12, 4}}, /* port in a bond, whether it is strict, priority */
};

struct devx {
	struct obj o;
	const struct kind *kind;
	uint32_t id;
	struct obj *needs;
	uint8_t context[160];
};

static uint32_t get(const void *p, struct field f) { return _devx_get(p, f.bit, f.width); }
static void set(void *p, struct field f, uint32_t value) { _devx_set(p, value, f.bit, f.width); }
static uint32_t operation(const void *command) { return get(command, (struct field){0, 16}); }

/* The answer of the firmware: an error in it is one of the call as well. */
static int answer(struct ib_uverbs_ioctl_hdr *h, uint16_t id, uint8_t *out, size_t size, int status)
{
	out[0] = status;
	attr_out(h, id, out, status ? HEADER : size);
	return status ? EREMOTEIO : 0;
}

/* A command, with zeros behind it; false if it is shorter than a header or the device was opened without DevX. */
static bool command(struct context *ctx, struct ib_uverbs_ioctl_hdr *h, uint16_t in, uint16_t out, void *to)
{
	struct ib_uverbs_attr *a = attr(h, in), *b = attr(h, out);
	if (!(ctx->request.flags & MLX5_IB_ALLOC_UCTX_DEVX) || !a || !b || a->len < HEADER || b->len < HEADER)
		return false;
	attr_in_copy(h, in, to, MAX_COMMAND);
	return true;
}

static int query_capabilities(const void *in, uint8_t *out)
{
	switch (get(in, (struct field){0x30, 16}) >> 1) { /* the last bit asks for the greatest values, which are the same */
	case GENERAL:
		for (size_t i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++)
			set(out + HEADER, capabilities[i].field, capabilities[i].value);
		set(out + HEADER, (struct field){0x1b6, 2}, !port_is_infiniband()); /* the type of the port */
		return OK;
	case ODP:
	case ATOMIC:
	case ROCE:
	case QOS:
		return OK;
	default:
		return BAD_PARAMETER;
	}
}

int devx_other(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	uint8_t in[MAX_COMMAND], out[HEADER + CAPABILITIES] = {0};
	const uint16_t to = MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT;
	if (!command(ctx, h, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, to, in))
		return EINVAL;
	switch (operation(in)) {
	case QUERY_HCA_CAP:
		return answer(h, to, out, sizeof(out), query_capabilities(in, out));
	case QUERY_ADAPTER:
		set(out + HEADER, (struct field){0xc8, 24}, VENDOR);
		memcpy(out + HEADER + 240, BOARD, sizeof(BOARD) - 1);
		return answer(h, to, out, 272, OK);
	default:
		return EINVAL; /* Linux lets only commands through that it knows */
	}
}

int devx_query_eqn(struct ib_uverbs_ioctl_hdr *h)
{
	uint64_t vector = attr_in_number(h, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC);
	if (vector >= (uint64_t)sysconf(_SC_NPROCESSORS_ONLN))
		return ENOENT;
	attr_out_u32(h, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, vector + 4); /* the first ones are the driver's own */
	return 0;
}

static struct devx *object_by_id(struct context *ctx, const struct kind *kind, uint32_t id)
{
	for (uint32_t i = 1; i < ctx->num_objs; i++) {
		struct devx *each = (struct devx *)ctx->objs[i];
		if (each && each->o.type == O_DEVX && each->kind == kind && each->id == id)
			return each;
	}
	return NULL;
}

int devx_create(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	uint8_t in[MAX_COMMAND], out[HEADER] = {0};
	const uint16_t to = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT;
	const struct kind *kind = NULL;
	struct devx *domain = NULL, *d;
	if (!command(ctx, h, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, to, in))
		return EINVAL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].create == operation(in))
			kind = &kinds[i];
	if (!kind)
		return EINVAL;
	if (kind == tis && !(domain = object_by_id(ctx, transport_domain, get(in + 32, (struct field){0x128, 24}))))
		return answer(h, to, out, sizeof(out), BAD_RESOURCE);
	d = object_new(ctx, sizeof(*d), O_DEVX);
	d->kind = kind;
	d->id = next_number++;
	d->needs = domain ? &domain->o : NULL;
	used(d->needs);
	if (kind == tis)
		memcpy(d->context, in + 32, kind->size);
	set(out, (struct field){ID, 32}, d->id);
	attr_out_object(h, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, &d->o);
	return answer(h, to, out, sizeof(out), OK);
}

int devx_query(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct devx *d = (struct devx *)sim_obj(ctx, attr_in_number(h, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE), O_DEVX);
	uint8_t in[MAX_COMMAND], out[HEADER + sizeof(d->context)] = {0};
	const uint16_t to = MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT;
	if (!d || !command(ctx, h, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, to, in) || !d->kind->query
	    || operation(in) != d->kind->query || get(in, (struct field){d->kind->query_id, 32}) != d->id)
		return EINVAL;
	if (attr(h, to)->len < HEADER + d->kind->size)
		return answer(h, to, out, sizeof(out), BAD_OUTPUT_LENGTH);
	memcpy(out + HEADER, d->context, d->kind->size);
	return answer(h, to, out, HEADER + d->kind->size, OK);
}

int devx_modify(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	struct devx *d = (struct devx *)sim_obj(ctx, attr_in_number(h, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE), O_DEVX);
	uint8_t in[MAX_COMMAND], out[HEADER] = {0};
	const uint16_t to = MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT;
	if (!d || !command(ctx, h, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, to, in) || !d->kind->modify
	    || operation(in) != d->kind->modify || get(in, (struct field){ID, 32}) != d->id)
		return EINVAL;
	if (attr(h, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN)->len < 32u + d->kind->size)
		return answer(h, to, out, sizeof(out), BAD_INPUT_LENGTH);
	for (size_t i = 0; i < sizeof(tis_changes) / sizeof(*tis_changes); i++)
		if (get(in, (struct field){tis_changes[i].mask, 1}))
			set(d->context, tis_changes[i].field, get(in + 32, tis_changes[i].field));
	return answer(h, to, out, sizeof(out), OK);
}

void devx_destroyed(struct obj *o)
{
	struct obj *needs = ((struct devx *)o)->needs;
	if (needs)
		needs->users--;
}

int umem_reg(struct context *ctx, struct ib_uverbs_ioctl_hdr *h)
{
	uint64_t start = attr_in_number(h, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
	uint64_t length = attr_in_number(h, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
	uint32_t access = attr_in_number(h, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS);
	int error;
	if (!(ctx->request.flags & MLX5_IB_ALLOC_UCTX_DEVX) || !length
	    || access & ~(uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))
		return EINVAL;
	error = check_access(access);
	error = error ? error : pin(start, length, access);
	if (error)
		return error;
	attr_out_object(h, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, object_new(ctx, sizeof(struct simple), O_UMEM));
	attr_out_u32(h, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, next_number++);
	return 0;
}
