/* Flow rules, actions and counters. */
#include "standin.h"
#include <arpa/inet.h>
#include <string.h>

/* A rule of one specification. */
static void rule(const void *spec, size_t size)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof attr + size, .num_of_specs = 1, .port = 1,
	};
	uint64_t memory[32];
	char *rule = (char *)memory;

	memcpy(rule, &attr, sizeof attr);
	memcpy(rule + sizeof attr, spec, size);
	ibv_create_flow(latest.qp, (struct ibv_flow_attr *)rule);
}

#define RULE(spec) rule(&(spec), sizeof(spec))

void rule_ethernet(void)
{
	struct ibv_flow_spec_eth eth = {
		.type = IBV_FLOW_SPEC_ETH, .size = sizeof eth,
		.val = {{2, 1, 2, 3, 4, 5}, {2, 6, 7, 8, 9, 10}, htons(0x0800), htons(0xe123)},
		.mask = {{255, 255, 255, 255, 255, 255}, {0}, htons(0xffff), htons(0x0fff)},
	};
	RULE(eth);
}

/* Fills it in place: a returned struct has anything between its fields. */
static void ipv4(struct ibv_flow_spec_ipv4 *spec)
{
	memset(spec, 0, sizeof *spec);
	spec->type = IBV_FLOW_SPEC_IPV4;
	spec->size = sizeof *spec;
	spec->val.src_ip = htonl(0xc0000201);
	spec->val.dst_ip = htonl(0xc6336402);
	spec->mask.src_ip = htonl(0xffffff00);
	spec->mask.dst_ip = 0xffffffff;
}

void rule_ipv4(void)
{
	struct ibv_flow_spec_ipv4 spec;
	ipv4(&spec);
	RULE(spec);
}

void rule_ipv4_ext(void)
{
	struct ibv_flow_spec_ipv4_ext ipv4_ext = {
		.type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof ipv4_ext,
		.val = {htonl(0xc0000201), htonl(0xc6336402), 17, 0xb8, 64, 2},
		.mask = {htonl(0xffffff00), 0xffffffff, 255, 254, 253, 7},
	};
	RULE(ipv4_ext);
}

void rule_ipv6(void)
{
	struct ibv_flow_spec_ipv6 ipv6 = {
		.type = IBV_FLOW_SPEC_IPV6, .size = sizeof ipv6,
		.val = {.flow_label = htonl(0x12345), .next_hdr = 6, .traffic_class = 0xb8, .hop_limit = 63},
		.mask = {.flow_label = htonl(0xfffff), .next_hdr = 255, .traffic_class = 254, .hop_limit = 253},
	};
	inet_pton(AF_INET6, "2001:db8::1", ipv6.val.src_ip);
	inet_pton(AF_INET6, "2001:db8::2", ipv6.val.dst_ip);
	inet_pton(AF_INET6, "ffff:ffff::", ipv6.mask.src_ip);
	inet_pton(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ipv6.mask.dst_ip);
	RULE(ipv6);
}

void rule_inner(void)
{
	struct ibv_flow_spec_ipv4 inner;
	ipv4(&inner);
	inner.type |= IBV_FLOW_SPEC_INNER;
	RULE(inner);
}

static void ports(enum ibv_flow_spec_type type)
{
	struct ibv_flow_spec_tcp_udp ports = {
		.type = type, .size = sizeof ports,
		.val = {htons(0x1234), htons(0x5678)}, .mask = {htons(0xffff), htons(0xff00)},
	};
	RULE(ports);
}

void rule_tcp(void)
{
	ports(IBV_FLOW_SPEC_TCP);
}

void rule_udp(void)
{
	ports(IBV_FLOW_SPEC_UDP);
}

void rule_esp(void)
{
	struct ibv_flow_spec_esp esp = {
		.type = IBV_FLOW_SPEC_ESP, .size = sizeof esp,
		.val = {htonl(0x01020304), htonl(0x05060708)}, .mask = {0xffffffff, htonl(0xff)},
	};
	RULE(esp);
}

void rule_vxlan(void)
{
	struct ibv_flow_spec_tunnel vxlan = {
		.type = IBV_FLOW_SPEC_VXLAN_TUNNEL, .size = sizeof vxlan,
		.val = {htonl(0x00abcdef)}, .mask = {htonl(0x00ffffff)},
	};
	RULE(vxlan);
}

void rule_gre(void)
{
	struct ibv_flow_spec_gre gre = {
		.type = IBV_FLOW_SPEC_GRE, .size = sizeof gre,
		.val = {htons(0x2000), htons(0x6558), htonl(0x0a0b0c0d)},
		.mask = {htons(0xb000), htons(0xffff), 0xffffffff},
	};
	RULE(gre);
}

void rule_mpls(void)
{
	struct ibv_flow_spec_mpls mpls = {
		.type = IBV_FLOW_SPEC_MPLS, .size = sizeof mpls,
		.val = {htonl(0x12345678)}, .mask = {htonl(0xfffff000)},
	};
	RULE(mpls);
}

void rule_tag(void)
{
	struct ibv_flow_spec_action_tag tag = {
		.type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof tag, .tag_id = 0x123456,
	};
	RULE(tag);
}

void rule_drop(void)
{
	struct ibv_flow_spec_action_drop drop = {.type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof drop};
	RULE(drop);
}

void rule_encryption(void)
{
	struct ibv_flow_spec_action_handle handle = {
		.type = IBV_FLOW_SPEC_ACTION_HANDLE, .size = sizeof handle, .action = latest.action,
	};
	RULE(handle);
}

void rule_count(void)
{
	struct ibv_flow_spec_counter_action count = {
		.type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof count, .counters = latest.counters,
	};
	RULE(count);
}

void rule_of_attributes(void)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_SNIFFER, .size = sizeof attr, .priority = 0xfedc, .port = 2,
		.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS,
	};
	ibv_create_flow(latest.qp, &attr);
}

void rule_of_three(void)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_tcp_udp udp;
		struct ibv_flow_spec_action_tag tag;
	} __attribute__((packed, aligned(8))) three = {
		.attr = {.size = sizeof three, .num_of_specs = 3, .port = 1},
		.eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof three.eth},
		.udp = {.type = IBV_FLOW_SPEC_UDP, .size = sizeof three.udp},
		.tag = {.type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof three.tag, .tag_id = 9},
	};
	ibv_create_flow(latest.qp, (struct ibv_flow_attr *)&three);
}

void destroy_the_flow(void)
{
	ibv_destroy_flow(latest.flow);
}

void destroy_the_flow_and_its_action(void)
{
	ibv_destroy_flow(latest.flow);
	ibv_destroy_flow_action(latest.action);
}

void destroy_the_flow_and_its_counters(void)
{
	ibv_destroy_flow(latest.flow);
	ibv_destroy_counters(latest.counters);
}

void destroy_the_flow_and_its_queue_pair(void)
{
	ibv_destroy_flow(latest.flow);
	ibv_destroy_qp(latest.qp);
}

void create_an_action(void)
{
	struct ib_uverbs_flow_action_esp esp = {
		.spi = 0x01020304, .seq = 5, .tfc_pad = 6,
		.flags = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT | IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT,
		.hard_limit_pkts = 0x1122334455667788,
	};
	struct ib_uverbs_flow_action_esp_keymat_aes_gcm key = {
		.iv = 0x8877665544332211, .iv_algo = IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ, .salt = 7, .icv_len = 16,
		.key_len = 24,
	};
	struct ib_uverbs_flow_action_esp_replay_bmp replay = {.size = 64};
	struct ibv_flow_action_esp_attr attr = {
		.esp_attr = &esp,
		.keymat_proto = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
		.keymat_len = sizeof key,
		.keymat_ptr = &key,
		.replay_proto = IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP,
		.replay_len = sizeof replay,
		.replay_ptr = &replay,
		.comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN,
		.esn = 9,
	};

	for (int i = 0; i < 24; i++)
		((unsigned char *)key.aes_key)[i] = i + 1;
	ibv_create_flow_action_esp(latest.context, &attr);
}

void change_the_action(void)
{
	struct ib_uverbs_flow_action_esp esp = {.spi = 1};
	struct ibv_flow_action_esp_attr attr = {
		.esp_attr = &esp,
		.keymat_proto = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
		.replay_proto = IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE,
	};
	ibv_modify_flow_action_esp(latest.action, &attr);
	ibv_destroy_flow_action(latest.action);
}

void create_counters(void)
{
	struct ibv_counters_init_attr attr = {0};
	ibv_create_counters(latest.context, &attr);
}

void use_the_counters(void)
{
	struct ibv_counter_attach_attr bytes = {.counter_desc = IBV_COUNTER_BYTES, .index = 0xfedc};
	struct ibv_counter_attach_attr packets = {.counter_desc = IBV_COUNTER_PACKETS, .index = 1};
	uint64_t values[3];
	ibv_attach_counters_point_flow(latest.counters, &bytes, NULL);
	ibv_attach_counters_point_flow(latest.counters, &packets, latest.flow);
	ibv_read_counters(latest.counters, values, 3, IBV_READ_COUNTERS_ATTR_PREFER_CACHED);
	ibv_read_counters(latest.counters, values, 1, 0);
	ibv_destroy_counters(latest.counters);
}
