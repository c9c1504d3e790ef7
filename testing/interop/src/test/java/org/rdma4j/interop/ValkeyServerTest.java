package org.rdma4j.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.providers.PooledConnectionProvider;

/** Jedis, unchanged, over sockets of rdma4j-valkey, and Valkey's own server. */
final class ValkeyServerTest {
  private static final int CLIENTS = 64;
  private static final int PIPELINED = 10_000;
  private static final long PATIENCE_SECONDS = 150;

  private ValkeyServer server;

  @BeforeEach
  void start() throws Exception {
    server = new ValkeyServer();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static byte[] random(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static byte[] key(String name) {
    return name.getBytes(UTF_8);
  }

  @Test
  void valuesOfEachLengthComeBackUnchanged() {
    int mebibyte = 1 << 20;
    int[] lengths = {
      0,
      1,
      31,
      32,
      33,
      4095,
      4096,
      65_535,
      65_537,
      mebibyte - 40,
      mebibyte - 1,
      mebibyte,
      mebibyte + 1,
      3 * mebibyte + 17,
      8 * mebibyte,
      32 * mebibyte,
      5
    };
    try (Jedis jedis = server.connect()) {
      for (int length : lengths) {
        byte[] value = random(length, length);
        assertThat(jedis.set(key("value"), value)).isEqualTo("OK");
        assertThat(Arrays.equals(jedis.get(key("value")), value)).as("%d bytes", length).isTrue();
        assertThat(jedis.strlen(key("value"))).isEqualTo(length);
        assertThat(jedis.append(key("value"), value)).isEqualTo(2L * length);
        assertThat(Arrays.equals(jedis.getrange(key("value"), length, 2L * length), value))
            .as("appended %d bytes", length)
            .isTrue();
      }
    }
  }

  @Test
  void aPipelineOfTenThousandHasAllAnswersInOrder() {
    try (Jedis jedis = server.connect()) {
      for (int length : new int[] {3, 300}) {
        Pipeline pipeline = jedis.pipelined();
        List<Response<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < PIPELINED; i++) {
          pipeline.set(key("p" + i % 100), random(i, length));
          answers.add(pipeline.get(key("p" + i % 100)));
        }
        pipeline.sync();
        for (int i = 0; i < PIPELINED; i++) {
          assertThat(answers.get(i).get()).as("answer %d", i).isEqualTo(random(i, length));
        }
      }
    }
  }

  @Test
  void commandsOfAllKindsOfValues() {
    try (Jedis jedis = server.connect()) {
      assertThat(jedis.ping("hello")).isEqualTo("hello");
      assertThat(jedis.incrBy("number", 41)).isEqualTo(41);
      assertThat(jedis.incr("number")).isEqualTo(42);
      assertThat(jedis.hset("hash", Map.of("a", "1", "b", "2"))).isEqualTo(2);
      assertThat(jedis.hgetAll("hash")).isEqualTo(Map.of("a", "1", "b", "2"));
      assertThat(jedis.rpush("list", "x", "y", "z")).isEqualTo(3);
      assertThat(jedis.lrange("list", 0, -1)).containsExactly("x", "y", "z");
      assertThat(jedis.sadd("set", "x", "y", "x")).isEqualTo(2);
      assertThat(jedis.smembers("set")).containsExactlyInAnyOrder("x", "y");
      assertThat(jedis.zadd("sorted", Map.of("low", 1.0, "high", 2.5))).isEqualTo(2);
      assertThat(jedis.zrange("sorted", 0, -1)).containsExactly("low", "high");
      assertThat(jedis.mset("m1", "a", "m2", "b")).isEqualTo("OK");
      assertThat(jedis.mget("m1", "none", "m2")).containsExactly("a", null, "b");
      assertThat(jedis.eval("return redis.call('get', KEYS[1])", 1, "m1")).isEqualTo("a");
      assertThat(jedis.blpop(1, "empty")).isNull();
      var transaction = jedis.multi();
      transaction.set("t", "1");
      transaction.incr("t");
      assertThat(transaction.exec()).containsExactly("OK", 2L);
      assertThatThrownBy(() -> jedis.lpush("number", "x")).hasMessageContaining("WRONGTYPE");
      assertThat(jedis.del("number", "hash", "none")).isEqualTo(2);
    }
  }

  @Test
  void aSubscriberGetsEachMessage() throws Exception {
    int messages = 1000;
    CountDownLatch subscribed = new CountDownLatch(1);
    List<byte[]> received = new ArrayList<>();
    FutureTask<Void> subscriber =
        start(
            () -> {
              try (Jedis jedis = server.connect()) {
                jedis.subscribe(
                    new BinaryJedisPubSub() {
                      @Override
                      public void onSubscribe(byte[] channel, int channels) {
                        subscribed.countDown();
                      }

                      @Override
                      public void onMessage(byte[] channel, byte[] message) {
                        received.add(message);
                        if (received.size() == messages) {
                          unsubscribe();
                        }
                      }
                    },
                    key("news"));
              }
              return null;
            });
    assertThat(subscribed.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    try (Jedis jedis = server.connect()) {
      for (int i = 0; i < messages; i++) {
        assertThat(jedis.publish(key("news"), random(i, i * 37))).isEqualTo(1);
      }
    }
    subscriber.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    for (int i = 0; i < messages; i++) {
      assertThat(received.get(i)).as("message %d", i).isEqualTo(random(i, i * 37));
    }
  }

  private static FutureTask<Void> start(Callable<Void> work) {
    FutureTask<Void> task = new FutureTask<>(work);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  @Test
  void manyClientsGetTheirOwnValues() throws Exception {
    List<FutureTask<Void>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      clients.add(
          start(
              () -> {
                try (Jedis jedis = server.connect()) {
                  for (int j = 0; j < 50; j++) {
                    byte[] value = random(client * 1000 + j, 1 << j % 16);
                    jedis.set(key("client " + client), value);
                    assertThat(jedis.get(key("client " + client))).isEqualTo(value);
                  }
                }
                return null;
              }));
    }
    for (FutureTask<Void> each : clients) {
      each.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }

  @Test
  void aPoolGoesOnAfterTheServerWasKilledAndStartedAgain() throws Exception {
    GenericObjectPoolConfig<Connection> config = new GenericObjectPoolConfig<>();
    config.setTestOnBorrow(true);
    var connections = new ConnectionFactory(server.factory(), ValkeyServer.CONFIG);
    try (var provider = new PooledConnectionProvider(connections, config);
        var client = RedisClient.builder().connectionProvider(provider).build()) {
      assertThat(client.set("before", "1")).isEqualTo("OK");
      server.kill();
      assertThatThrownBy(() -> client.get("before")).isInstanceOf(JedisException.class);
      server.restart();
      assertThat(client.get("before")).isNull();
      assertThat(client.set("after", "2")).isEqualTo("OK");
    }
  }

  @Test
  void aClientOfAServerThatIsKilledGetsTheReason() {
    Jedis client = server.connect();
    assertThat(client.ping()).isEqualTo("PONG");
    server.kill();
    assertThatEnds(client);
  }

  @Test
  void aClientThatIsKilledGetsTheReason() {
    Jedis killed = server.connect();
    try (Jedis killer = server.connect()) {
      var one = ClientKillParams.clientKillParams().id(Long.toString(killed.clientId()));
      assertThat(killer.clientKill(one)).isEqualTo(1);
      assertThatEnds(killed);
      assertThat(killer.ping()).isEqualTo("PONG");
    }
  }

  private void assertThatEnds(Jedis client) {
    assertThatThrownBy(() -> client.get("any"))
        .isInstanceOf(JedisConnectionException.class)
        .hasCauseInstanceOf(IOException.class)
        .hasMessageContaining(server.address + ": the server closed the connection");
    try {
      client.close();
    } catch (JedisConnectionException unsent) {
      // Jedis tries to send what it could not send before.
    }
  }

  @Test
  void moreClientsThanAllowedAreTold() throws Exception {
    try (ValkeyServer small = new ValkeyServer("--maxclients", "1");
        Jedis first = small.connect()) {
      assertThatThrownBy(small::connect)
          .isInstanceOf(JedisConnectionException.class)
          .hasMessageContaining("the server closed the connection");
      assertThat(first.ping()).isEqualTo("PONG");
    }
  }
}
