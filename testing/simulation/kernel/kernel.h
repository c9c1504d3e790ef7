/* What the files of the simulated kernel need of each other. */
#pragma once
#include "../sim.h"

#define DEVICE_FILE "/dev/infiniband/uverbs0"
#define EFA_FILE "/dev/infiniband/uverbs1"
#define CM_FILE "/dev/infiniband/rdma_cm"
/* A real character device, so that fstat of the descriptor gives the numbers that sysfs announces. */
#define STANDS_FOR "/dev/null"
#define NUMBERS "1:3"
#define MAX_FDS 65536

/* Limits of the device, which it tells in several forms. */
enum {
	LOG_MAX_QP = 18, LOG_MAX_QP_SIZE = 15, LOG_MAX_CQ = 24, LOG_MAX_CQ_SIZE = 22, LOG_MAX_SRQ = 23, LOG_MAX_SRQ_SIZE = 15,
	LOG_MAX_MKEY = 20, LOG_MAX_PD = 23, LOG_MAX_GROUPS = 21, LOG_MAX_READS = 4, LOG_MAX_MESSAGE = 30, LOG_MAX_TAGS = 7,
	LOG_BLUEFLAME = 9, MAX_SEND_REQUEST = 1024, MAX_RECEIVE_REQUEST = 512, ACK_DELAY = 16, CLOCK_KHZ = 156250,
};
#define BOARD "SIM0000000001"

extern uint32_t next_number; /* of queue pairs and the like */

/* descriptors.c */
enum fd_kind { FD_OTHER, FD_UVERBS, FD_EVENTS, FD_CM };
enum fd_kind kind_of(int fd);
void *object_of(int fd);
bool remember(int fd, enum fd_kind kind, void *object); /* false if there are too many */

#define MMAP_UAR 0x20 /* beside the commands of enum mlx5_ib_mmap_cmd */

/* What an mmap of the device names: bits 8 to 15 of the page number are the command, the others the number. */
static inline uint64_t mmap_offset(uint64_t command, uint64_t number)
{
	return (command << 8 | (number & 0xff) | number >> 8 << 16) << 12;
}

/* libc.c, sysfs.c */
int open_device(int flags, bool efa);
int open_cm(int flags);
const char *sim_tree(void); /* the directory that stands for "/" */

/* refusals.c */
int refusal(const char *kind, unsigned object, unsigned method);
int refusal_of_command(struct ib_uverbs_ioctl_hdr *h);

/* event_file.c */
ssize_t event_read(struct event_file *f, void *buf, size_t size);
void event_file_closed(struct event_file *f);

/* attributes.c */
struct ib_uverbs_attr *attr(struct ib_uverbs_ioctl_hdr *h, uint16_t id);
bool attr_has(struct ib_uverbs_ioctl_hdr *h, uint16_t id);
const void *attr_in(struct ib_uverbs_ioctl_hdr *h, uint16_t id);
void attr_in_copy(struct ib_uverbs_ioctl_hdr *h, uint16_t id, void *to, size_t size);
uint64_t attr_in_number(struct ib_uverbs_ioctl_hdr *h, uint16_t id);
void attr_out(struct ib_uverbs_ioctl_hdr *h, uint16_t id, const void *from, size_t size);
void attr_out_u32(struct ib_uverbs_ioctl_hdr *h, uint16_t id, uint32_t value);
void attr_out_u64(struct ib_uverbs_ioctl_hdr *h, uint16_t id, uint64_t value);
void attr_out_object(struct ib_uverbs_ioctl_hdr *h, uint16_t id, struct obj *o);

/* uar.c */
int alloc_uar(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
char *uar_page(struct context *ctx, uint32_t page);

/* objects.c */
void *object_new(struct context *ctx, size_t size, enum obj_type type);
void object_events(struct ib_uverbs_ioctl_hdr *h, struct obj *o, uint16_t id);
void used(struct obj *o);
void object_forget(struct obj *o);
int object_destroy(struct obj *o);
int object_destroy_by(struct context *ctx, struct ib_uverbs_ioctl_hdr *h, uint16_t id, enum obj_type type);

/* device.c */
void get_context(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int query_context(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
void query_device(struct ib_uverbs_ioctl_hdr *h);
int query_port(struct ib_uverbs_ioctl_hdr *h, uint8_t port);
int query_gid_table(struct ib_uverbs_ioctl_hdr *h);
int query_gid_entry(struct ib_uverbs_ioctl_hdr *h);
bool is_own_gid(const uint8_t *gid);

/* memory.c */
struct mkey *mkey_new(struct pd *pd);
void mkey_delete(struct mkey *mk);
int check_access(uint32_t access);
int reg_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int rereg_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int alloc_mw(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int alloc_dm(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
void *dm_map(struct dm *dm);
void dm_free(struct dm *dm);
int query_dm(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int reg_dm_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int reg_dma_buffer(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
void mr_unmap(struct mr *mr);
int query_mr(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);

/* devx.c */
int devx_other(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int devx_query_eqn(struct ib_uverbs_ioctl_hdr *h);
int devx_create(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int devx_query(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int devx_modify(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
void devx_destroyed(struct obj *o);
int umem_reg(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);

/* completion_queue.c, shared_receive_queue.c, queue_pair.c, address.c */
int create_cq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int resize_cq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int open_xrcd(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int open_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
struct qp *qp_of(struct context *ctx, uint64_t handle);
int qp_close(struct context *ctx, uint64_t handle);
void qp_ends(struct qp *qp);
int create_srq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int modify_srq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int query_srq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int create_wq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int modify_wq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int destroy_wq(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int create_table(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int create_flow(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int create_action(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int modify_action(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int create_counters(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int read_counters(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int create_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int modify_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int query_qp(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
int attach_group(struct context *ctx, struct ib_uverbs_ioctl_hdr *h, bool attach);
int create_ah(struct context *ctx, struct ib_uverbs_ioctl_hdr *h);
