package org.rdma4j.bench.connections;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.rdma4j.connection.RdmaConnection;

/**
 * Compares connections with jucx, the Java binding of UCX, which needs the UCX of the machine. Its
 * two processes begin anew for each pair; nearly all that they do is C, and therefore warm soon.
 */
final class JucxComparisons {
  private static final Duration TIME = Duration.ofSeconds(3);
  private static final int BYTES = 64;
  private static final int PIECE = 1 << 16;
  private static final String LIBRARY = "libucp.so.0";

  private static final Pattern MEAN = Pattern.compile("mean ([\\d.]+) us");
  private static final Pattern MEDIAN = Pattern.compile("median ([\\d.]+) us");
  private static final Pattern RATE = Pattern.compile("([\\d.]+) messages/s");

  private final List<String> jucx;
  private final InetSocketAddress server;
  private final int port;
  private final int pairs;

  /**
   * Creates the comparisons.
   *
   * @param java starts a JVM with the program {@link JucxPeer}
   * @param device the RDMA device
   * @param server where our peer listens
   * @param port where the peer of jucx listens
   */
  JucxComparisons(List<String> java, String device, InetSocketAddress server, int port, int pairs) {
    // Without this choice UCX would take shared memory or TCP; its own connection manager is TCP.
    jucx =
        new ArrayList<>(
            List.of(
                "env",
                "UCX_TLS=rc_verbs,ud_verbs",
                "UCX_SOCKADDR_TLS_PRIORITY=rdmacm",
                "UCX_NET_DEVICES=" + device + ":1"));
    jucx.addAll(java);
    jucx.addAll(List.of(server.getHostString(), "" + port));
    this.server = server;
    this.port = port;
    this.pairs = pairs;
  }

  Map<String, Connections.Step> steps() {
    return Map.of(
        "jucx-echo",
        () ->
            echo(
                ConnectionComparison.atMost(0.9, "echo of 64 B, mean, beside jucx", "us"),
                MEAN,
                (connection, time) -> Rates.echoes(connection, BYTES, time).result().micros()),
        "jucx-echo-median",
        () ->
            echo(
                ConnectionComparison.atMost(0.9, "echo of 64 B, median, beside jucx", "us"),
                MEDIAN,
                (connection, time) -> Rates.echoes(connection, BYTES, time).median()),
        "jucx-stream",
        () ->
            stream(
                "64 KiB one way from a direct buffer, beside jucx",
                "stream",
                ByteBuffer.allocateDirect(PIECE)),
        "jucx-stream-heap",
        () ->
            stream(
                "64 KiB one way from a heap buffer, beside jucx, for which it is copied",
                "stream-heap",
                ByteBuffer.allocate(PIECE)));
  }

  private ConnectionComparison echo(
      ConnectionComparison comparison, Pattern figure, Connections.Measurement echo)
      throws Exception {
    return compare(comparison, "echo", echo, pair(figure, "echo", BYTES, 30_000, 30_000));
  }

  private ConnectionComparison stream(String title, String task, ByteBuffer message)
      throws Exception {
    return compare(
        ConnectionComparison.atLeast(1.1, title, "messages/s"),
        "sink",
        (connection, time) -> Rates.copies(connection, message, time).perSecond(),
        pair(RATE, task, PIECE, 1000, 6000));
  }

  private OtherPair pair(Pattern figure, String task, int bytes, int warmUp, int messages) {
    List<String> client = new ArrayList<>(jucx);
    client.addAll(List.of(task, "" + bytes, "" + warmUp, "" + messages));
    return OtherPair.withLastFigure(jucx, client, port, figure);
  }

  private ConnectionComparison compare(
      ConnectionComparison comparison,
      String ask,
      Connections.Measurement measurement,
      OtherPair other)
      throws Exception {
    if (!hasLibrary()) {
      return comparison.withoutFigures(LIBRARY + " is not installed");
    }
    try (RdmaConnection connection = RdmaConnection.connect(server)) {
      Rates.ask(connection, ask);
      WarmUp.run(connection, time -> measurement.measure(connection, time));
      for (int i = 0; i < pairs; i++) {
        comparison.add(measurement.measure(connection, TIME), other.run());
      }
    }
    return comparison;
  }

  private static boolean hasLibrary() {
    try (Arena arena = Arena.ofConfined()) {
      var unused = SymbolLookup.libraryLookup(LIBRARY, arena);
      return true;
    } catch (IllegalArgumentException missing) {
      return false;
    }
  }
}
