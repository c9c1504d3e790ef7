package org.rdma4j.bench.connections;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.valkey.ValkeySocketFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;

/**
 * Compares Jedis over rdma4j-valkey, one command at a time, with Valkey's own benchmark over RDMA,
 * and with Jedis over TCP. All of them ask one server.
 */
final class ValkeyComparisons {
  private static final Duration TIME = Duration.ofSeconds(3);
  private static final int BYTES = 64;
  private static final String KEY = "benchmark";
  private static final String COMMANDS = "20000";
  private static final String READY = "Ready to accept connections rdma";
  private static final Pattern RATE = Pattern.compile("([\\d.]+) requests per second");

  private static final JedisClientConfig CONFIG =
      DefaultJedisClientConfig.builder()
          .connectionTimeoutMillis(20_000)
          .socketTimeoutMillis(60_000)
          .build();

  private final @Nullable String programs = System.getProperty("org.rdma4j.bench.valkey");
  private final HostAndPort rdma;
  private final HostAndPort tcp;
  private final int pairs;

  /**
   * Creates the comparisons.
   *
   * @param host the address of the RDMA device
   * @param port the port for RDMA; that for TCP, on the loopback address, is the next one
   */
  ValkeyComparisons(String host, int port, int pairs) {
    this.rdma = new HostAndPort(host, port);
    this.tcp = new HostAndPort("127.0.0.1", port + 1);
    this.pairs = pairs;
  }

  Map<String, Connections.Step> steps() {
    return Map.of(
        "valkey-get",
        () -> compare("valkey-benchmark --rdma", ignored -> benchmark()),
        "valkey-get-tcp",
        () -> compare("Jedis over TCP", ValkeyComparisons::rate));
  }

  /** What is measured beside ours; Jedis is connected over TCP. */
  private interface Other {
    double perSecond(Jedis overTcp) throws Exception;
  }

  private ConnectionComparison compare(String beside, Other other) throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.withoutAim(
            "GET of %d B from Valkey, one at a time, beside %s".formatted(BYTES, beside),
            "commands/s");
    if (programs == null) {
      return comparison.withoutFigures("Valkey is not built: run dev/lib/valkey");
    }
    try (ChildProcess server = ChildProcess.start(command(programs))) {
      server.awaitOutput(READY);
      try (Jedis overRdma = new Jedis(new ValkeySocketFactory(rdma, CONFIG), CONFIG);
          Jedis overTcp = new Jedis(tcp, CONFIG)) {
        overRdma.set(KEY, "v".repeat(BYTES));
        WarmUp.runHere(time -> rate(overRdma, time));
        WarmUp.runHere(time -> rate(overTcp, time));
        for (int i = 0; i < pairs; i++) {
          comparison.add(rate(overRdma), other.perSecond(overTcp));
        }
      }
    }
    return comparison;
  }

  private List<String> command(String directory) {
    return List.of(
        Path.of(directory, "valkey-server").toString(),
        "--save",
        "",
        "--dir",
        System.getProperty("java.io.tmpdir"),
        "--protected-mode",
        "no",
        "--bind",
        tcp.getHost(),
        "--port",
        "" + tcp.getPort(),
        "--rdma-bind",
        rdma.getHost(),
        "--rdma-port",
        "" + rdma.getPort());
  }

  private static double rate(Jedis jedis) {
    return rate(jedis, TIME);
  }

  private static double rate(Jedis jedis, Duration time) {
    long begin = System.nanoTime();
    long commands = 0;
    long nanos;
    do {
      String value = jedis.get(KEY);
      if (value.length() != BYTES) {
        throw new IllegalStateException("Valkey answered " + value);
      }
      commands++;
      nanos = System.nanoTime() - begin;
    } while (nanos < time.toNanos());
    return commands * 1e9 / nanos;
  }

  private double benchmark() throws Exception {
    String program = Path.of(Objects.requireNonNull(programs), "valkey-benchmark").toString();
    String printed =
        OtherPair.run(
            List.of(
                program,
                "--rdma",
                "-h",
                rdma.getHost(),
                "-p",
                "" + rdma.getPort(),
                "-c",
                "1",
                "-n",
                COMMANDS,
                "-q",
                "GET",
                KEY));
    return RATE.matcher(printed)
        .results()
        .mapToDouble(match -> Double.parseDouble(match.group(1)))
        .reduce((earlier, last) -> last)
        .orElseThrow(() -> new IOException("valkey-benchmark printed no rate: " + printed));
  }
}
