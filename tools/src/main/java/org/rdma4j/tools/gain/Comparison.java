package org.rdma4j.tools.gain;

import java.util.List;
import java.util.Locale;

/**
 * What TCP and RDMA have done with the same work.
 *
 * @param work echoes, or a stream in each connection
 * @param connections how many at the same time
 * @param bytes the length of a message
 */
record Comparison(Work work, int connections, int bytes, Load.Result tcp, Load.Result rdma) {
  /** Ratios nearer to 1 than that are no difference. */
  private static final double SIGNIFICANT = 1.1;

  /** Returns how many times as many messages RDMA has carried. */
  double rate() {
    return rdma.perSecond() / tcp.perSecond();
  }

  /** Returns the processor time for a message over RDMA, in parts of that over TCP. */
  double cpu() {
    return rdma.cpuNanosPerMessage() / tcp.cpuNanosPerMessage();
  }

  /** Returns the line of a table. */
  String line() {
    return "%-6s %5d %8d | %10.0f %10.0f %6.2f | %8s %8s | %6.2f"
        .formatted(
            work == Work.ECHO ? "echo" : "stream",
            connections,
            bytes,
            tcp.perSecond(),
            rdma.perSecond(),
            rate(),
            micros(tcp),
            micros(rdma),
            cpu());
  }

  private static String micros(Load.Result result) {
    return result.medianMicros() == 0
        ? "-"
        : String.format(Locale.ROOT, "%.1f", result.medianMicros());
  }

  /** Returns the lines above those of a table. */
  static String header() {
    return """
        work   conns    bytes |   messages/s        RDMA | median us          | CPU time
                              |        TCP       RDMA /TCP  |      TCP     RDMA | RDMA/TCP""";
  }

  /** Returns whether to use RDMA, after some comparisons. */
  static String advice(List<Comparison> all) {
    long better = all.stream().filter(Comparison::isBetter).count();
    long worse = all.stream().filter(Comparison::isWorse).count();
    if (worse == 0 && better > 0) {
      return "RDMA is worth it here: better in %d of %d measurements, and worse in none. Start both programs with -javaagent:rdma4j-nio.jar, or with -Djava.nio.channels.spi.SelectorProvider=org.rdma4j.nio.RdmaSelectorProvider."
          .formatted(better, all.size());
    }
    if (better == 0) {
      return "RDMA is not worth it here: better in none of %d measurements, and worse in %d. Leave it off."
          .formatted(all.size(), worse);
    }
    return "It depends on your program: RDMA is better in %d of %d measurements, and worse in %d. Use it if your messages are like those of the rows with a rate above %.1f."
        .formatted(better, all.size(), worse, SIGNIFICANT);
  }

  private boolean isBetter() {
    return !isWorse() && (rate() > SIGNIFICANT || cpu() < 1 / SIGNIFICANT);
  }

  private boolean isWorse() {
    return rate() < 1 / SIGNIFICANT;
  }
}
