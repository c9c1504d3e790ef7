package org.rdma4j.interop;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.valkey.ValkeySocketFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;

/** A Valkey server that dev/lib/valkey has built, which listens for RDMA alone. */
final class ValkeyServer implements AutoCloseable {
  static final JedisClientConfig CONFIG =
      DefaultJedisClientConfig.builder()
          .connectionTimeoutMillis(20_000)
          .socketTimeoutMillis(60_000)
          .build();

  final HostAndPort address;
  private final List<String> command;
  private ChildProcess process;

  ValkeyServer(String... options) throws Exception {
    String host = System.getProperty(Way.RDMA, InetAddress.getLoopbackAddress().getHostAddress());
    address = new HostAndPort(host, FreePort.find());
    String programs = System.getProperty("org.rdma4j.interop.valkey");
    command =
        new ArrayList<>(
            List.of(Path.of(programs, "valkey-server").toString(), "--port", "0", "--save", ""));
    command.addAll(
        List.of("--protected-mode", "no", "--dir", System.getProperty("java.io.tmpdir")));
    command.addAll(List.of("--rdma-bind", host, "--rdma-port", "" + address.getPort()));
    command.addAll(List.of(options));
    process = start();
  }

  private ChildProcess start() throws Exception {
    ChildProcess started = ChildProcess.start(command);
    try {
      started.awaitOutput("Ready to accept connections rdma");
      return started;
    } catch (Exception | AssertionError failed) {
      started.close();
      throw failed;
    }
  }

  ValkeySocketFactory factory() {
    return new ValkeySocketFactory(address, CONFIG);
  }

  Jedis connect() {
    return new Jedis(factory(), CONFIG);
  }

  void kill() {
    process.kill();
  }

  void restart() throws Exception {
    process.close();
    process = start();
  }

  @Override
  public void close() {
    process.close();
  }
}
