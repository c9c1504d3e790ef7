package org.rdma4j.docs.guide;

import org.rdma4j.valkey.ValkeySocketFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/** The example of docs/guide/valkey.md; dev/interop --valkey runs such clients. */
final class ValkeyClient {
  private ValkeyClient() {}

  static void greet() {
    // snippet: jedis
    var config = DefaultJedisClientConfig.builder().build();
    var server = new HostAndPort("192.0.2.1", 6380);
    try (var jedis = new Jedis(new ValkeySocketFactory(server, config), config)) {
      jedis.set("greeting", "hello");
    }
    // end
  }
}
