/* DevX: commands in the format of the firmware, through libmlx5. */
#include "common/pair.h"
#include <infiniband/mlx5dv.h>

enum { HEADER = 16 };

/* A field of a command or an answer, by its first bit and the number of its bits. */
static uint32_t get(const void *p, int bit, int width) { return _devx_get(p, bit, width); }
static void set(void *p, int bit, int width, uint32_t value) { _devx_set(p, value, bit, width); }

static void capabilities(void)
{
	uint32_t in[4] = {0}, out[4 + 1024] = {0};
	struct ibv_device_attr attr;
	void *caps = out + 4;
	set(in, 0, 16, 0x100);
	CHECK(!mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)));
	CHECK(!ibv_query_device(ctx, &attr));
	CHECK(1 << get(caps, 0x9b, 5) == attr.max_qp && 1 << get(caps, 0x88, 8) == attr.max_qp_wr);
	CHECK(1 << get(caps, 0xdb, 5) == attr.max_cq && (1 << get(caps, 0xc8, 8)) - 1 == attr.max_cqe);
	CHECK(1 << get(caps, 0xab, 5) == attr.max_srq && 1 << get(caps, 0x32b, 5) == attr.max_pd);
	CHECK(1 << get(caps, 0xea, 6) == attr.max_mr && get(caps, 0x1b8, 8) == attr.phys_port_cnt);
	CHECK(1 << get(caps, 0x14a, 6) == attr.max_qp_init_rd_atom && get(caps, 0x1ab, 5) == attr.local_ca_ack_delay);
	CHECK(get(caps, 0x23f, 1) && get(caps, 0x1b6, 2) == 1);
	/* a kind of capabilities that does not exist */
	set(in, 0x30, 16, 0x77 << 1);
	CHECK(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)) == EREMOTEIO && get(out, 0, 8) == 3);
	/* a command that Linux does not let through: it would stop the device */
	set(in, 0, 16, 0x103);
	CHECK(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)) == EINVAL);
}

static void adapter(void)
{
	uint32_t in[4] = {0}, out[4 + 64] = {0};
	set(in, 0, 16, 0x101);
	CHECK(!mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)));
	CHECK(get(out + 4, 0xc8, 24) == 0x2c9 && !memcmp((char *)(out + 4) + 240, "SIM0000000001", 14));
}

static struct mlx5dv_devx_obj *create(int operation, uint32_t *in, size_t size, uint32_t *id)
{
	uint32_t out[4] = {0};
	struct mlx5dv_devx_obj *o;
	set(in, 0, 16, operation);
	o = mlx5dv_devx_obj_create(ctx, in, size, out, sizeof(out));
	CHECK(o && !get(out, 0, 8));
	*id = get(out, 0x40, 32);
	return o;
}

static void domains_and_counters(void)
{
	uint32_t in[8] = {0}, out[8] = {0}, first, second;
	struct mlx5dv_devx_obj *domain = create(0x800, in, HEADER, &first), *other = create(0x800, in, HEADER, &second);
	struct mlx5dv_devx_obj *counter;
	CHECK(first != second);
	CHECK(!mlx5dv_devx_obj_destroy(domain) && !mlx5dv_devx_obj_destroy(other));
	memset(in, 0, sizeof(in));
	counter = create(0x939, in, HEADER, &first);
	memset(out, 0xff, sizeof(out));
	set(in, 0, 16, 0x93b);
	set(in, 0xe0, 32, first);
	CHECK(!mlx5dv_devx_obj_query(counter, in, sizeof(in), out, sizeof(out)));
	CHECK(!out[4] && !out[5] && !out[6] && !out[7]); /* packets and bytes */
	set(in, 0xe0, 32, first + 1); /* not the number of this object */
	CHECK(mlx5dv_devx_obj_query(counter, in, sizeof(in), out, sizeof(out)) == EINVAL);
	CHECK(!mlx5dv_devx_obj_destroy(counter));
}

/* The context of a transmit interface is read as it was written, and changed where the mask says so. */
static void contexts(void)
{
	uint32_t in[8 + 40] = {0}, out[4 + 40] = {0}, domain_id, id;
	struct mlx5dv_devx_obj *domain, *tis;
	void *context = in + 8;
	set(in, 0, 16, 0x912);
	set(context, 0x128, 24, 0xabcdef); /* a transport domain that does not exist */
	errno = 0;
	CHECK(!mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)) && errno == EREMOTEIO && get(out, 0, 8) == 5);
	memset(in, 0, sizeof(in));
	domain = create(0x816, in, HEADER, &domain_id);
	set(context, 0x128, 24, domain_id);
	set(context, 12, 4, 3); /* priority */
	tis = create(0x912, in, sizeof(in), &id);
	CHECK(mlx5dv_devx_obj_destroy(domain) == EBUSY);
	memset(in, 0, sizeof(in));
	set(in, 0, 16, 0x915);
	set(in, 0x40, 32, id);
	CHECK(!mlx5dv_devx_obj_query(tis, in, HEADER, out, sizeof(out)));
	CHECK(get(out + 4, 12, 4) == 3 && get(out + 4, 0x128, 24) == domain_id);
	CHECK(mlx5dv_devx_obj_query(tis, in, HEADER, out, HEADER) == EREMOTEIO && get(out, 0, 8) == 0x51);
	set(in, 0, 16, 0x913);
	set(in, 0xbf, 1, 1); /* the priority, and nothing else */
	set(context, 12, 4, 5);
	set(context, 0, 8, 0xff);
	CHECK(!mlx5dv_devx_obj_modify(tis, in, sizeof(in), out, HEADER));
	memset(in, 0, sizeof(in));
	set(in, 0, 16, 0x915);
	set(in, 0x40, 32, id);
	CHECK(!mlx5dv_devx_obj_query(tis, in, HEADER, out, sizeof(out)));
	CHECK(get(out + 4, 12, 4) == 5 && !get(out + 4, 0, 8) && get(out + 4, 0x128, 24) == domain_id);
	CHECK(!mlx5dv_devx_obj_destroy(tis) && !mlx5dv_devx_obj_destroy(domain));
}

static void memory(void)
{
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(ctx, buf, SIZE, IBV_ACCESS_LOCAL_WRITE), *other;
	CHECK(umem);
	other = mlx5dv_devx_umem_reg(ctx, buf, SIZE, 0);
	CHECK(other && umem->umem_id != other->umem_id);
	CHECK(!mlx5dv_devx_umem_reg(ctx, buf, SIZE, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL); /* without a local one */
	CHECK(!mlx5dv_devx_umem_reg(ctx, (void *)4096, 4096, 0) && errno == EFAULT);
	CHECK(!mlx5dv_devx_umem_dereg(umem) && !mlx5dv_devx_umem_dereg(other));
}

static void pages_and_vectors(void)
{
	struct mlx5dv_devx_uar *page = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF), *other;
	uint32_t first, second;
	CHECK(page && page->reg_addr && page->base_addr);
	other = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	CHECK(other && other->page_id != page->page_id);
	mlx5dv_devx_free_uar(page);
	mlx5dv_devx_free_uar(other);
	CHECK(!mlx5dv_devx_query_eqn(ctx, 0, &first));
	CHECK(mlx5dv_devx_query_eqn(ctx, 1 << 20, &second) == ENOENT);
}

int main(void)
{
	open_device();
	RUN(capabilities());
	RUN(adapter());
	RUN(domains_and_counters());
	RUN(contexts());
	RUN(memory());
	RUN(pages_and_vectors());
	close_device();
	return result();
}
