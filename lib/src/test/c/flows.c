/* Prints flow rules as C builds them, one a line: a name and the bytes in hexadecimal. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void print(const char *name, const void *bytes, size_t size)
{
	printf("%s ", name);
	for (size_t i = 0; i < size; i++)
		printf("%02x", ((const unsigned char *) bytes)[i]);
	printf("\n");
}

/* A rule of one specification. */
static void rule(const char *name, const void *spec, size_t size)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof attr + size, .num_of_specs = 1, .port = 1,
	};
	unsigned char bytes[sizeof attr + size];

	memcpy(bytes, &attr, sizeof attr);
	memcpy(bytes + sizeof attr, spec, size);
	print(name, bytes, sizeof bytes);
}

#define RULE(name, spec) rule(name, &(spec), sizeof (spec))

static void packets(void)
{
	struct ibv_flow_spec_eth eth = {
		.type = IBV_FLOW_SPEC_ETH, .size = sizeof eth,
		.val = { { 2, 1, 2, 3, 4, 5 }, { 2, 6, 7, 8, 9, 10 }, htons(0x0800), htons(0xe123) },
		.mask = { { 255, 255, 255, 255, 255, 255 }, { 0 }, htons(0xffff), htons(0x0fff) },
	};
	struct ibv_flow_spec_ipv4 ipv4 = {
		.type = IBV_FLOW_SPEC_IPV4, .size = sizeof ipv4,
		.val = { htonl(0xc0000201), htonl(0xc6336402) }, .mask = { htonl(0xffffff00), 0xffffffff },
	};
	struct ibv_flow_spec_ipv4_ext ipv4_ext = {
		.type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof ipv4_ext,
		.val = { htonl(0xc0000201), htonl(0xc6336402), 17, 0xb8, 64, 2 },
		.mask = { htonl(0xffffff00), 0xffffffff, 255, 254, 253, 7 },
	};
	struct ibv_flow_spec_ipv6 ipv6 = {
		.type = IBV_FLOW_SPEC_IPV6, .size = sizeof ipv6,
		.val = { .flow_label = htonl(0x12345), .next_hdr = 6, .traffic_class = 0xb8, .hop_limit = 63 },
		.mask = { .flow_label = htonl(0xfffff), .next_hdr = 255, .traffic_class = 254, .hop_limit = 253 },
	};
	struct ibv_flow_spec_ipv4 inner = ipv4;

	inet_pton(AF_INET6, "2001:db8::1", ipv6.val.src_ip);
	inet_pton(AF_INET6, "2001:db8::2", ipv6.val.dst_ip);
	inet_pton(AF_INET6, "ffff:ffff::", ipv6.mask.src_ip);
	inet_pton(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ipv6.mask.dst_ip);
	inner.type |= IBV_FLOW_SPEC_INNER;
	RULE("ethernet", eth);
	RULE("ipv4", ipv4);
	RULE("ipv4_ext", ipv4_ext);
	RULE("ipv6", ipv6);
	RULE("inner", inner);
}

static void transports_and_tunnels(void)
{
	struct ibv_flow_spec_tcp_udp tcp = {
		.type = IBV_FLOW_SPEC_TCP, .size = sizeof tcp,
		.val = { htons(0x1234), htons(0x5678) }, .mask = { htons(0xffff), htons(0xff00) },
	};
	struct ibv_flow_spec_tcp_udp udp = tcp;
	struct ibv_flow_spec_esp esp = {
		.type = IBV_FLOW_SPEC_ESP, .size = sizeof esp,
		.val = { htonl(0x01020304), htonl(0x05060708) }, .mask = { 0xffffffff, htonl(0xff) },
	};
	struct ibv_flow_spec_tunnel vxlan = {
		.type = IBV_FLOW_SPEC_VXLAN_TUNNEL, .size = sizeof vxlan,
		.val = { htonl(0x00abcdef) }, .mask = { htonl(0x00ffffff) },
	};
	struct ibv_flow_spec_gre gre = {
		.type = IBV_FLOW_SPEC_GRE, .size = sizeof gre,
		.val = { htons(0x2000), htons(0x6558), htonl(0x0a0b0c0d) },
		.mask = { htons(0xb000), htons(0xffff), 0xffffffff },
	};
	struct ibv_flow_spec_mpls mpls = {
		.type = IBV_FLOW_SPEC_MPLS, .size = sizeof mpls,
		.val = { htonl(0x12345678) }, .mask = { htonl(0xfffff000) },
	};

	udp.type = IBV_FLOW_SPEC_UDP;
	RULE("tcp", tcp);
	RULE("udp", udp);
	RULE("esp", esp);
	RULE("vxlan", vxlan);
	RULE("gre", gre);
	RULE("mpls", mpls);
}

static void actions(void)
{
	struct ibv_flow_spec_action_tag tag = {
		.type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof tag, .tag_id = 0x123456,
	};
	struct ibv_flow_spec_action_drop drop = { .type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof drop };
	struct ibv_flow_spec_action_handle handle = {
		.type = IBV_FLOW_SPEC_ACTION_HANDLE, .size = sizeof handle, .action = (void *) 0x123456789abcdef0,
	};
	struct ibv_flow_spec_counter_action count = {
		.type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof count, .counters = (void *) 0x123456789abcdef0,
	};

	RULE("tag", tag);
	RULE("drop", drop);
	print("handle", &handle, sizeof handle);
	print("count", &count, sizeof count);
}

static void esp_action(void)
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
	struct ib_uverbs_flow_action_esp_replay_bmp replay = { .size = 64 };

	for (int i = 0; i < 24; i++)
		((unsigned char *) key.aes_key)[i] = i + 1;
	print("esp_action", &esp, sizeof esp);
	print("key", &key, sizeof key);
	print("replay", &replay, sizeof replay);
}

int main(void)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_SNIFFER, .size = sizeof attr, .priority = 0xfedc, .port = 200,
		.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS,
	};
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_tcp_udp udp;
		struct ibv_flow_spec_action_tag tag;
	} __attribute__((packed)) three = {
		.attr = { .size = sizeof three, .num_of_specs = 3, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof three.eth },
		.udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof three.udp },
		.tag = { .type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof three.tag, .tag_id = 9 },
	};

	packets();
	transports_and_tunnels();
	actions();
	esp_action();
	print("attributes", &attr, sizeof attr);
	print("three", &three, sizeof three);
	return 0;
}
