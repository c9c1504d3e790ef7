/* Actions of flows: the keys of IPsec. */
#include "common/pair.h"

static void actions(void)
{
	struct ibv_flow_action_esp esp = {.spi = 7};
	struct ib_uverbs_flow_action_esp_keymat_aes_gcm key = {.icv_len = 16, .key_len = 16};
	struct ibv_flow_action_esp_attr attr = {.esp_attr = &esp, .keymat_proto = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
		.keymat_len = sizeof(key), .keymat_ptr = &key};
	struct ibv_flow_action *action = ibv_create_flow_action_esp(ctx, &attr);
	CHECK(action);
	attr.keymat_ptr = NULL;
	attr.keymat_len = 0;
	attr.keymat_proto = 0;
	CHECK(!ibv_modify_flow_action_esp(action, &attr));
	CHECK(!ibv_destroy_flow_action(action));
	CHECK(!ibv_create_flow_action_esp(ctx, &attr)); /* without a key */
}

int main(void)
{
	open_device();
	RUN(actions());
	close_device();
	return result();
}
