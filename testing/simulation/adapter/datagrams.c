/* Datagrams: the header before the data, multicast, and what is dropped. */
#include "../wire/wire.h"
#include "adapter.h"

/* What a datagram queue pair finds before the data: an IPv6 header, or an IPv4 header in the last 20 bytes. */
void datagram_header(struct wqe *w, uint32_t length, char grh[GRH_BYTES])
{
	struct mlx5_wqe_av *av = &((struct mlx5_wqe_datagram_seg *)(w->bytes + 16))->av;
	uint32_t index = be32toh(av->grh_gid_fl) >> 20 & 0xff;
	const uint8_t *from = sim_gids[index < (uint32_t)sim_num_gids ? index : 0];
	memset(grh, 0, GRH_BYTES);
	if (index & 1 && from[10] == 0xff && from[11] == 0xff) {
		uint16_t *half = (uint16_t *)(grh + 20);
		uint32_t sum = 0;
		grh[20] = 0x45;
		grh[21] = av->tclass;
		half[1] = htobe16(20 + 8 + 12 + 8 + length + 4);
		half[3] = htobe16(0x4000);
		grh[28] = av->hop_limit;
		grh[29] = 17;
		memcpy(grh + 32, from + 12, 4);
		memcpy(grh + 36, av->rgid + 12, 4);
		for (int i = 0; i < 10; i++)
			sum += be16toh(half[i]);
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		half[5] = htobe16(~sum);
	} else {
		uint32_t first = 6u << 28 | av->tclass << 20 | (be32toh(av->grh_gid_fl) & 0xfffff);
		*(uint32_t *)grh = htobe32(first);
		*(uint16_t *)(grh + 4) = htobe16(12 + 8 + length + 4);
		grh[6] = index & 1 ? 17 : 0x1b;
		grh[7] = av->hop_limit;
		memcpy(grh + 8, from, 16);
		memcpy(grh + 24, av->rgid, 16);
	}
}

enum outcome execute_ud(struct qp *qp, struct wqe *w)
{
	struct mlx5_wqe_datagram_seg *av = (void *)(w->bytes + 16);
	uint32_t to = be32toh(av->av.dqp_dct) & 0xffffff;
	struct qp *peer = peer_of(to);
	struct segs data = {.n = 0};
	uint32_t qkey = be32toh(av->av.key.qkey.qkey);
	int error;
	if (w->opcode != MLX5_OPCODE_SEND && w->opcode != MLX5_OPCODE_SEND_IMM && w->opcode != MLX5_OPCODE_NOP)
		return fail_request(qp, w, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	error = gather(qp, w, w->bytes + 16 + sizeof(*av), 0, &data);
	if (error)
		return fail_request(qp, w, error);
	if (data.total > 1024)
		return fail_request(qp, w, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	if (qkey & 0x80000000)
		qkey = qp->attr.qkey;
	if (port_down()) {
		complete_request(qp, w, 0, NULL); /* the adapter does not know that nobody hears it */
		return DONE;
	}
	if (!qp->far && is_elsewhere(to))
		datagram_elsewhere(qp, w, &data, to);
	if (to == 0xffffff) {
		for (peer = sim_qps; peer; peer = peer->next)
			for (int i = 0; i < peer->num_groups; i++)
				if (!memcmp(peer->groups[i], av->av.rgid, 16) && receives(peer) && peer->attr.qkey == qkey
				    && has_receive(peer))
					deliver(qp, w, peer, &data, w->opcode == MLX5_OPCODE_SEND_IMM);
	} else if (peer && peer->type == IBV_QPT_UD && receives(peer) && peer->attr.qkey == qkey && has_receive(peer)) {
		deliver(qp, w, peer, &data, w->opcode == MLX5_OPCODE_SEND_IMM);
	}
	complete_request(qp, w, 0, NULL);
	return DONE;
}
