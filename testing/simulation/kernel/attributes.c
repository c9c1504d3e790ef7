/* The attributes of an ioctl of the uverbs device: input, output, and handles of objects. */
#include "kernel.h"

struct ib_uverbs_attr *attr(struct ib_uverbs_ioctl_hdr *h, uint16_t id)
{
	for (int i = 0; i < h->num_attrs; i++)
		if (h->attrs[i].attr_id == id)
			return &h->attrs[i];
	return NULL;
}

bool attr_has(struct ib_uverbs_ioctl_hdr *h, uint16_t id)
{
	return attr(h, id) != NULL;
}

const void *attr_in(struct ib_uverbs_ioctl_hdr *h, uint16_t id)
{
	struct ib_uverbs_attr *a = attr(h, id);
	return !a ? NULL : a->len <= sizeof(a->data) ? (void *)&a->data : (void *)(uintptr_t)a->data;
}

/* A copy of a structure that may be shorter in the caller's version: the rest is zero. */
void attr_in_copy(struct ib_uverbs_ioctl_hdr *h, uint16_t id, void *to, size_t size)
{
	struct ib_uverbs_attr *a = attr(h, id);
	memset(to, 0, size);
	if (a)
		memcpy(to, attr_in(h, id), a->len < size ? a->len : size);
}

uint64_t attr_in_number(struct ib_uverbs_ioctl_hdr *h, uint16_t id)
{
	struct ib_uverbs_attr *a = attr(h, id);
	uint64_t value = a ? a->data : 0;
	return a && a->len && a->len < 8 ? value & ((1ull << a->len * 8) - 1) : value;
}

void attr_out(struct ib_uverbs_ioctl_hdr *h, uint16_t id, const void *from, size_t size)
{
	struct ib_uverbs_attr *a = attr(h, id);
	if (!a)
		return;
	memset((void *)(uintptr_t)a->data, 0, a->len);
	memcpy((void *)(uintptr_t)a->data, from, a->len < size ? a->len : size);
	a->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

void attr_out_u32(struct ib_uverbs_ioctl_hdr *h, uint16_t id, uint32_t value) { attr_out(h, id, &value, sizeof(value)); }
void attr_out_u64(struct ib_uverbs_ioctl_hdr *h, uint16_t id, uint64_t value) { attr_out(h, id, &value, sizeof(value)); }

void attr_out_object(struct ib_uverbs_ioctl_hdr *h, uint16_t id, struct obj *o)
{
	attr(h, id)->data = o->handle;
}
