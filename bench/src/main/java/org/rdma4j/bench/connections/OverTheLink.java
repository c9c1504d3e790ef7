package org.rdma4j.bench.connections;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.verbs.RemoteMemory;

/** Prints the rates of a connection to a {@link Peer} on another machine, and ends the peer. */
public final class OverTheLink {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration WARMUP = Duration.ofSeconds(10);
  private static final Duration TIME = Duration.ofSeconds(5);

  private OverTheLink() {}

  /** What is measured. */
  private interface Measurement {
    Rates.Result run(RdmaConnection connection, Duration time) throws Exception;
  }

  /**
   * Measures.
   *
   * @param arguments the address and the port of the peer
   */
  public static void main(String[] arguments) throws Exception {
    InetSocketAddress peer = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    awaitListening(peer);
    for (int bytes : new int[] {64, 4080}) {
      print(peer, "sink", bytes, "one way", (link, time) -> Rates.sends(link, bytes, time));
    }
    for (int bytes : new int[] {1 << 16, 1 << 20}) {
      print(peer, "sink", bytes, "one way", (link, time) -> Rates.offers(link, bytes, time));
    }
    print(
        peer, "echo", 64, "there and back", (link, time) -> Rates.echoes(link, 64, time).result());
    int bytes = 1 << 16;
    try (RdmaConnection connection = RdmaConnection.connect(peer, PATIENCE)) {
      RemoteMemory memory = Rates.memoryOf(connection, bytes);
      Rates.writes(connection, memory, WARMUP);
      print(bytes, "written", Rates.writes(connection, memory, TIME));
      Rates.reads(connection, memory, WARMUP);
      print(bytes, "read", Rates.reads(connection, memory, TIME));
    }
    try (RdmaConnection connection = RdmaConnection.connect(peer, PATIENCE)) {
      Rates.ask(connection, "end");
    }
  }

  /** The other guest may still be booting. */
  private static void awaitListening(InetSocketAddress peer) throws Exception {
    long end = System.nanoTime() + Duration.ofMinutes(3).toNanos();
    while (true) {
      try {
        RdmaConnection.connect(peer, PATIENCE).close();
        return;
      } catch (RdmaException notYet) {
        if (System.nanoTime() - end > 0) {
          throw notYet;
        }
        Thread.sleep(500);
      }
    }
  }

  private static void print(
      InetSocketAddress peer, String what, int bytes, String title, Measurement measurement)
      throws Exception {
    try (RdmaConnection connection = RdmaConnection.connect(peer, PATIENCE)) {
      Rates.ask(connection, what);
      measurement.run(connection, WARMUP);
      print(bytes, title, measurement.run(connection, TIME));
    }
  }

  private static void print(int bytes, String title, Rates.Result result) {
    System.out.printf(
        Locale.ROOT,
        "%8d bytes %-15s %10.0f/s %8.1f MB/s%n",
        bytes,
        title,
        result.perSecond(),
        result.perSecond() * bytes / 1e6);
  }
}
