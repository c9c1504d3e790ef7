/**
 * Sockets to Valkey servers over RDMA, by the protocol that Valkey has since version 8.1. They are
 * sockets of the JDK, so clients that let a program choose its sockets can use them. Jedis does:
 *
 * {@snippet :
 * var config = DefaultJedisClientConfig.builder().build();
 * var server = new HostAndPort("192.0.2.1", 6380);
 * try (var jedis = new Jedis(new ValkeySocketFactory(server, config), config)) {
 *   jedis.set("greeting", "hello");
 *   System.out.println(jedis.get("greeting"));
 * }
 * }
 *
 * <p>{@link org.rdma4j.valkey.ValkeySocket} is for other clients, and says what differs from TCP.
 *
 * <p>Experimental, as Valkey's protocol is. A null argument throws a NullPointerException.
 */
@NullMarked
package org.rdma4j.valkey;

import org.jspecify.annotations.NullMarked;
