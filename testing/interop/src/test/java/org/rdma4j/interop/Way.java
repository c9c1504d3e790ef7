package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rdma4j.nio.ChannelStatistics;
import org.rdma4j.nio.RdmaSelectorProvider;

/**
 * Which way the bytes of all tests go, as dev/interop says: over TCP alone, or on an RDMA device or
 * the simulated adapter, with the switch made.
 */
final class Way {
  /** The property with the address of the RDMA device. Without it, all bytes go over TCP. */
  static final String RDMA = "org.rdma4j.interop.rdma";

  private Way() {}

  static boolean isRdma() {
    return System.getProperty(RDMA) != null;
  }

  /** Returns the options with which this JVM was started, for another one. */
  static List<String> options() {
    List<String> options = new ArrayList<>();
    for (Map.Entry<Object, Object> each : System.getProperties().entrySet()) {
      String name = (String) each.getKey();
      if (name.startsWith("org.rdma4j.") || name.equals(SelectorProvider.class.getName())) {
        options.add("-D" + name + "=" + each.getValue());
      }
    }
    return options;
  }

  static ChannelStatistics statistics() {
    return ((RdmaSelectorProvider) SelectorProvider.provider()).statistics();
  }

  /**
   * Returns whether the next bytes of a program with one connection go the way that they should: a
   * program need not wait for that, but a test that counts bytes does.
   */
  static boolean isFound() {
    return !isRdma() || statistics().receivedBytes() > 0;
  }

  /** Checks that bytes of this JVM went the way that they should. */
  static void check() {
    ChannelStatistics done = statistics();
    System.out.println(done);
    if (isRdma()) {
      assertThat(done.upgraded()).isPositive();
      assertThat(done.receivedBytes()).isPositive();
    } else {
      assertThat(done.upgraded() + done.stayed()).isZero();
    }
  }

  /**
   * Checks that the bytes of another program went the way that they should.
   *
   * @param printed what the program has printed
   * @param bytes the number that must have gone over RDMA at least, if that is the way
   */
  static void check(List<String> printed, long bytes) {
    Program.Report done = Program.report(printed);
    System.out.println(done);
    if (isRdma()) {
      assertThat(done.upgraded()).isPositive();
      assertThat(done.sentBytes() + done.receivedBytes()).isGreaterThanOrEqualTo(bytes);
    } else {
      assertThat(done).isEqualTo(new Program.Report(0, 0, 0));
    }
  }
}
