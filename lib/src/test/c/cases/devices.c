/* What C reads of a device and its ports. */
#include "newer.h"
#include <string.h>

#define READ(field) number(#field, attr.field)

void read_device(void)
{
	struct ibv_device_attr attr;
	ibv_query_device(latest.context, &attr);
	CALLED();
	bytes("fw_ver", attr.fw_ver, strlen(attr.fw_ver));
	bytes("node_guid", &attr.node_guid, sizeof attr.node_guid);
	bytes("sys_image_guid", &attr.sys_image_guid, sizeof attr.sys_image_guid);
	number("atomic_cap", attr.atomic_cap);
	READ(max_mr_size);
	READ(page_size_cap);
	READ(vendor_id);
	READ(vendor_part_id);
	READ(hw_ver);
	READ(max_qp);
	READ(max_qp_wr);
	READ(device_cap_flags);
	READ(max_sge);
	READ(max_sge_rd);
	READ(max_cq);
	READ(max_cqe);
	READ(max_mr);
	READ(max_pd);
	READ(max_qp_rd_atom);
	READ(max_ee_rd_atom);
	READ(max_res_rd_atom);
	READ(max_qp_init_rd_atom);
	READ(max_ee_init_rd_atom);
	READ(max_ee);
	READ(max_rdd);
	READ(max_mw);
	READ(max_raw_ipv6_qp);
	READ(max_raw_ethy_qp);
	READ(max_mcast_grp);
	READ(max_mcast_qp_attach);
	READ(max_total_mcast_qp_attach);
	READ(max_ah);
	READ(max_fmr);
	READ(max_map_per_fmr);
	READ(max_srq);
	READ(max_srq_wr);
	READ(max_srq_sge);
	READ(max_pkeys);
	READ(local_ca_ack_delay);
	READ(phys_port_cnt);
}

void read_extended_device(void)
{
	struct ibv_device_attr_ex attr;
	ibv_query_device_ex(latest.context, NULL, &attr);
	CALLED();
	number("odp", !!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT));
	number("implicit_odp", !!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT));
	number("tm_rc", !!(attr.tm_caps.flags & IBV_TM_CAP_RC));
	number("rc_odp_caps", attr.odp_caps.per_transport_caps.rc_odp_caps);
	number("uc_odp_caps", attr.odp_caps.per_transport_caps.uc_odp_caps);
	number("ud_odp_caps", attr.odp_caps.per_transport_caps.ud_odp_caps);
	number("xrc_odp_caps", attr.xrc_odp_caps);
	number("completion_timestamp_mask", attr.completion_timestamp_mask);
	number("hca_core_clock", attr.hca_core_clock);
	number("max_tso", attr.tso_caps.max_tso);
	number("tso_qpts", attr.tso_caps.supported_qpts);
	number("rss_qpts", attr.rss_caps.supported_qpts);
	number("max_rwq_indirection_tables", attr.rss_caps.max_rwq_indirection_tables);
	number("max_rwq_indirection_table_size", attr.rss_caps.max_rwq_indirection_table_size);
	number("rx_hash_fields_mask", attr.rss_caps.rx_hash_fields_mask);
	number("rx_hash_function", attr.rss_caps.rx_hash_function);
	number("max_wq_type_rq", attr.max_wq_type_rq);
	number("qp_rate_limit_min", attr.packet_pacing_caps.qp_rate_limit_min);
	number("qp_rate_limit_max", attr.packet_pacing_caps.qp_rate_limit_max);
	number("pacing_qpts", attr.packet_pacing_caps.supported_qpts);
	number("raw_packet_caps", attr.raw_packet_caps);
	number("max_rndv_hdr_size", attr.tm_caps.max_rndv_hdr_size);
	number("max_num_tags", attr.tm_caps.max_num_tags);
	number("max_ops", attr.tm_caps.max_ops);
	number("tm_max_sge", attr.tm_caps.max_sge);
	number("max_cq_count", attr.cq_mod_caps.max_cq_count);
	number("max_cq_period", attr.cq_mod_caps.max_cq_period);
	number("max_dm_size", attr.max_dm_size);
	number("fetch_add", attr.pci_atomic_caps.fetch_add);
	number("swap", attr.pci_atomic_caps.swap);
	number("compare_swap", attr.pci_atomic_caps.compare_swap);
	number("phys_port_cnt_ex", attr.phys_port_cnt_ex);
}

void read_port(int port_num)
{
	struct ibv_port_attr attr;
	ibv_query_port(latest.context, port_num, &attr);
	CALLED();
	READ(state);
	READ(max_mtu);
	READ(active_mtu);
	READ(gid_tbl_len);
	READ(port_cap_flags);
	READ(max_msg_sz);
	READ(bad_pkey_cntr);
	READ(qkey_viol_cntr);
	READ(pkey_tbl_len);
	READ(lid);
	READ(sm_lid);
	READ(lmc);
	READ(max_vl_num);
	READ(sm_sl);
	READ(subnet_timeout);
	READ(init_type_reply);
	READ(active_width);
	number("active_speed", port_num == 2 ? 256 : attr.active_speed);
	READ(phys_state);
	READ(link_layer);
	READ(flags);
	READ(port_cap_flags2);
}

void read_tables(void)
{
	struct ibv_gid_entry entries[3];
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	__be16 pkey;
	ssize_t count = ibv_query_gid_table(latest.context, entries, 3, 0);
	for (ssize_t i = 0; i < count; i++) {
		called("entry");
		bytes("gid", &entries[i].gid, sizeof entries[i].gid);
		number("index", entries[i].gid_index);
		number("port", entries[i].port_num);
		number("type", entries[i].gid_type);
		number("ndev_ifindex", entries[i].ndev_ifindex);
	}
	ibv_query_gid_ex(latest.context, 2, 99, &entry, 0);
	called("single");
	bytes("gid", &entry.gid, sizeof entry.gid);
	number("index", entry.gid_index);
	number("port", entry.port_num);
	ibv_query_gid(latest.context, 2, 98, &gid);
	bytes("gid", &gid, sizeof gid);
	ibv_query_pkey(latest.context, 2, 97, &pkey);
	bytes("pkey", &pkey, sizeof pkey);
}

/* The key is in network byte order. */
void find_partition_key(void)
{
	uint8_t raw[2] = {0x91, 0xa2};
	__be16 pkey;
	memcpy(&pkey, raw, sizeof raw);
	ibv_get_pkey_index(latest.context, 2, pkey);
}

void resolve_ethernet(void)
{
	struct ibv_ah_attr attr = {
		.grh = {.dgid.raw = {0xfe, 0x80, [15] = 9}, .sgid_index = 3, .hop_limit = 64},
		.is_global = 1,
		.port_num = 2,
	};
	uint8_t mac[6];
	uint16_t vid;
	ibv_resolve_eth_l2_from_gid(latest.context, &attr, mac, &vid);
}

void read_clock(void)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	ibv_query_rt_values_ex(latest.context, &values);
}
