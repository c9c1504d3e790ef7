/* Extended reliable connections: queue pairs that several contexts have open. */
#include "common/pair.h"
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct ibv_xrcd *domain(struct ibv_context *of, int fd)
{
	struct ibv_xrcd_init_attr init = {.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd,
		.oflags = O_CREAT};
	struct ibv_xrcd *x = ibv_open_xrcd(of, &init);
	CHECK(x);
	return x;
}

static struct ibv_qp *open_it(struct ibv_context *of, struct ibv_xrcd *x, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = x, .qp_type = IBV_QPT_XRC_RECV};
	return ibv_open_qp(of, &attr);
}

/*
 * What mlx5_destroy_qp asks the kernel for. It must not be called for an opened queue pair: it frees a doorbell record,
 * of which there is none, and writes anywhere (rdma-core 44 to 65).
 */
static int destroy_opened(struct ibv_qp *qp)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct { struct ib_uverbs_ioctl_hdr header; struct ib_uverbs_attr attrs[2]; } command = {
		.header = {.length = sizeof(command), .object_id = UVERBS_OBJECT_QP, .method_id = UVERBS_METHOD_QP_DESTROY,
			.num_attrs = 2},
		.attrs = {{.attr_id = UVERBS_ATTR_DESTROY_QP_HANDLE, .flags = UVERBS_ATTR_F_MANDATORY, .data = qp->handle},
			{.attr_id = UVERBS_ATTR_DESTROY_QP_RESP, .len = sizeof(resp), .flags = UVERBS_ATTR_F_MANDATORY,
			.data = (uintptr_t)&resp}}};
	return ioctl(qp->context->cmd_fd, RDMA_VERBS_IOCTL, &command);
}

/* A queue pair lives until everyone who has it open has closed it. */
static void opened_queue_pairs(void)
{
	char name[] = "/tmp/rdma4j-xrc.XXXXXX";
	int fd = mkstemp(name);
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *other = ibv_open_device(list[0]);
	struct ibv_xrcd *one = domain(ctx, fd), *two = domain(other, fd), *alone = domain(other, -1);
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = one};
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, &init), *opened;
	struct ibv_qp_attr attr = {0};
	struct ibv_qp_init_attr had;
	CHECK(qp);
	to_init(qp);
	errno = 0;
	CHECK(!open_it(other, alone, qp->qp_num) && errno == EINVAL);
	CHECK(!open_it(other, two, 0xfffff0));
	opened = open_it(other, two, qp->qp_num);
	CHECK(opened && opened->qp_num == qp->qp_num);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_query_qp(opened, &attr, IBV_QP_STATE, &had) && attr.qp_state == IBV_QPS_INIT);
	CHECK(ibv_close_xrcd(one) == EBUSY);
	CHECK(!destroy_opened(opened));
	CHECK(!ibv_close_xrcd(one) && !ibv_close_xrcd(two) && !ibv_close_xrcd(alone));
	CHECK(!ibv_close_device(other));
	ibv_free_device_list(list);
	close(fd);
	unlink(name);
}

int main(void)
{
	open_device();
	RUN(opened_queue_pairs());
	close_device();
	return result();
}
