package org.rdma4j.tools.perftest;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.rdma4j.tools.command.Json;
import org.rdma4j.verbs.address.Gid;

/** Prints what perftest prints, in its columns and units. */
final class Printer {
  private static final String LINE = "-".repeat(87);
  private static final String LATENCY_TITLE =
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ";
  private static final String TIMED_LATENCY_TITLE =
      " #bytes        #iterations       t_avg[usec]    tps average";

  /** Below this bandwidth in Gb/s, two digits say too little. */
  private static final double FEW_GIGABITS = 0.1;

  private final PrintWriter out;
  private final Settings settings;
  private final Style style;
  private final boolean table;
  private final List<Map<String, Object>> results = new ArrayList<>();
  private Map<String, Object> info = Map.of();

  Printer(PrintWriter out, Settings settings, Style style) {
    this.out = out;
    this.settings = settings;
    this.style = style;
    table = style.output() == Output.TABLE;
  }

  /** Prints that the server waits. */
  void waiting() {
    if (table && settings.server()) {
      out.println();
      out.println("************************************");
      out.println("* Waiting for client to connect... *");
      out.println("************************************");
    }
  }

  /**
   * Prints the options.
   *
   * @param resources what was created for them
   * @param mtu the path MTU in bytes
   * @param throughCm whether the connection manager connects the queue pairs
   */
  void info(Resources resources, int mtu, boolean throughCm) {
    Verb verb = settings.program().verb();
    String title =
        verb.title()
            + (verb != Verb.ATOMIC
                ? ""
                : settings.compareAndSwap() ? " CMP_AND_SWAP" : " FETCH_AND_ADD")
            + (settings.bothWays() ? " Bidirectional" : "")
            + (settings.postList() > 1 ? " Post List" : "")
            + (settings.program().isBandwidth() ? " BW" : " Latency");
    info = describe(title, resources, mtu, throughCm);
    if (!table) {
      return;
    }
    out.println(LINE);
    out.println("                    " + title + " Test");
    if (settings.events()) {
      out.println(" Test with events.");
    }
    pair("Dual-port", "OFF", "Device", resources.deviceName());
    pair("Number of qps", settings.queuePairs(), "Transport type", "IB");
    pair("Connection type", settings.transport(), "Using SRQ", "OFF");
    info.forEach(
        (key, value) -> {
          if (LABELS.containsKey(key)) {
            out.println(LABELS.get(key).formatted(value));
          }
        });
    out.println(LINE);
    out.flush();
  }

  private static final Map<String, String> LABELS =
      Map.ofEntries(
          Map.entry("PCIe_relax_order", " PCIe relax order: %s"),
          Map.entry("ibv_wr_API", " ibv_wr* API     : %s"),
          Map.entry("TX_depth", " TX depth        : %s"),
          Map.entry("Post_List", " Post List       : %s"),
          Map.entry("Recv_Post_List", " Recv Post List  : %s"),
          Map.entry("RX_depth", " RX depth        : %s"),
          Map.entry("CQ_Moderation", " CQ Moderation   : %s"),
          Map.entry("Mtu", " Mtu             : %s[B]"),
          Map.entry("Link_type", " Link type       : %s"),
          Map.entry("GID_index", " GID index       : %s"),
          Map.entry("Max_inline_data", " Max inline data : %s[B]"),
          Map.entry("Outstand_reads", " Outstand reads  : %s"),
          Map.entry("rdma_cm_QPs", " rdma_cm QPs\t : %s"),
          Map.entry("Data_ex_method", " Data ex. method : %s"));

  private void pair(String left, Object leftValue, String right, Object rightValue) {
    out.printf(" %-16s: %s\t\t%-15s: %s%n", left, leftValue, right, rightValue);
  }

  private Map<String, Object> describe(
      String title, Resources resources, int mtu, boolean throughCm) {
    Map<String, Object> all =
        Json.object(
            "test", (title + " Test").replace(' ', '_'),
            "Device", resources.deviceName(),
            "Number_of_qps", settings.queuePairs(),
            "Connection_type", settings.transport(),
            "PCIe_relax_order", resources.isRelaxed() ? "ON" : "OFF",
            "ibv_wr_API", "OFF");
    if (settings.sends()) {
      all.put("TX_depth", settings.sendDepth());
    }
    if (settings.postList() > 1) {
      all.put("Post_List", settings.postList());
    }
    if (settings.receivePostList() > 1) {
      all.put("Recv_Post_List", settings.receivePostList());
    }
    if (settings.receives() && (settings.server() || settings.bothWays())) {
      all.put("RX_depth", settings.receiveDepth());
    }
    if (settings.program().isBandwidth()) {
      all.put("CQ_Moderation", settings.moderation());
    }
    all.put("Mtu", mtu);
    all.put("Link_type", resources.port().isEthernet() ? "Ethernet" : "IB");
    if (resources.port().hasGid()) {
      all.put("GID_index", resources.port().gidIndex());
    }
    if (settings.program().verb().fetches()) {
      all.put("Outstand_reads", resources.reads());
    } else {
      all.put("Max_inline_data", resources.inlineBytes());
    }
    all.put("rdma_cm_QPs", throughCm ? "ON" : "OFF");
    all.put("Data_ex_method", throughCm ? "rdma_cm" : "Ethernet");
    return all;
  }

  /** Prints the address of a queue pair. */
  void address(String side, Keys keys, boolean hasGid) {
    if (!table) {
      return;
    }
    out.printf(
        Locale.ROOT,
        " %s address: LID %#04x QPN %#06x PSN %#06x",
        side,
        keys.address().lid(),
        keys.address().queuePairNumber(),
        keys.address().sequenceNumber());
    Verb verb = settings.program().verb();
    if (verb == Verb.READ) {
      out.printf(Locale.ROOT, " OUT %#04x", keys.reads());
    }
    if (verb == Verb.READ || verb == Verb.WRITE) {
      out.printf(Locale.ROOT, " RKey %#08x VAddr %#016x", keys.remoteKey(), keys.remoteAddress());
    }
    out.println();
    if (hasGid) {
      out.println(" GID: " + decimal(keys.address().gid()));
    }
  }

  /** Formats the bytes of a GID as decimal numbers, which perftest does. */
  private static String decimal(Gid gid) {
    StringBuilder text = new StringBuilder();
    for (int shift = 56; shift >= 0; shift -= 8) {
      text.append("%02d:".formatted(gid.subnetPrefix() >>> shift & 0xff));
    }
    for (int shift = 56; shift >= 0; shift -= 8) {
      text.append("%02d:".formatted(gid.interfaceId() >>> shift & 0xff));
    }
    return text.substring(0, text.length() - 1);
  }

  /** Prints the titles of the columns. */
  void titles() {
    if (table) {
      out.println(LINE);
      out.println(title());
      out.flush();
    }
  }

  private String title() {
    if (settings.program().isBandwidth()) {
      return " #bytes     #iterations    BW peak[%1$s/sec]    BW average[%1$s/sec]   MsgRate[Mpps]"
          .formatted(style.gigabits() ? "Gb" : "MB");
    }
    return settings.isTimed() ? TIMED_LATENCY_TITLE : LATENCY_TITLE;
  }

  /** Prints the result of a bandwidth test. */
  void result(Bandwidth.Report report) {
    boolean few = style.gigabits() && report.average() < FEW_GIGABITS;
    String text =
        switch (style.output()) {
          case BANDWIDTH -> String.format(Locale.ROOT, "%f", report.average());
          case MESSAGE_RATE -> String.format(Locale.ROOT, "%f", report.millionsPerSecond());
          default ->
              String.format(
                  Locale.ROOT,
                  few
                      ? " %-7d    %d           %-7.6f            %-7.6f            %-7.6f"
                      : " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
                  report.size(),
                  report.messages(),
                  report.peak(),
                  report.average(),
                  report.millionsPerSecond());
        };
    print(
        text,
        Json.object(
            "MsgSize", report.size(),
            "n_iterations", report.messages(),
            "BW_peak", report.peak(),
            "BW_average", report.average(),
            "MsgRate", report.millionsPerSecond()));
  }

  /** Prints the results of both directions one by one, if that was asked for. */
  void sides(Bandwidth.Report local, Bandwidth.Report remote) {
    if (style.bothSides() && table) {
      side("Local", local);
      side("Remote", remote);
    }
  }

  private void side(String name, Bandwidth.Report report) {
    out.println(LINE);
    out.println();
    out.println(" " + name + " results: ");
    titles();
    result(report);
  }

  /** Prints the result of a latency test that is not timed. */
  void result(long size, LatencySamples samples) {
    long[] intervals = samples.intervals();
    if (intervals.length == 0) {
      return;
    }
    int directions = settings.program().isPingPong() ? 2 : 1;
    if (style.everyTimeInOrder()) {
      printTimes(intervals, directions);
    }
    Arrays.sort(intervals);
    if (style.everyTime()) {
      printTimes(intervals, directions);
    }
    if (style.everyTime() || style.everyTimeInOrder()) {
      titles();
    }
    Latency latency = Latency.of(intervals.length + 1, intervals, directions);
    String text =
        style.output() == Output.LATENCY
            ? String.format(Locale.ROOT, "%f", latency.average())
            : String.format(
                Locale.ROOT,
                " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f",
                size,
                latency.messages(),
                latency.min(),
                latency.max(),
                latency.typical(),
                latency.average(),
                latency.deviation(),
                latency.percentile99(),
                latency.percentile999());
    print(
        text,
        Json.object(
            "MsgSize", size,
            "n_iterations", latency.messages(),
            "t_min", latency.min(),
            "t_max", latency.max(),
            "t_typical", latency.typical(),
            "t_avg", latency.average(),
            "t_stdev", latency.deviation(),
            "percentile_99", latency.percentile99(),
            "percentile_99.9", latency.percentile999()));
  }

  private void printTimes(long[] intervals, int directions) {
    if (table) {
      out.println("#, usec");
      for (int i = 0; i < intervals.length; i++) {
        out.printf(Locale.ROOT, "%d, %.6g%n", i + 1, intervals[i] / 1e3 / directions);
      }
    }
  }

  /** Prints the result of a timed latency test. */
  void timedResult(long size, long messages, long nanos) {
    int directions = settings.program().isPingPong() ? 2 : 1;
    double average = messages == 0 ? 0 : nanos / 1e3 / directions / messages;
    double perSecond = messages * 1e9 / nanos;
    String text =
        style.output() == Output.LATENCY
            ? String.format(Locale.ROOT, "%f", average)
            : String.format(
                Locale.ROOT,
                " %-7d       %d            %-7.2f        %-7.2f",
                size,
                messages,
                average,
                perSecond);
    print(
        text,
        Json.object(
            "MsgSize", size,
            "n_iterations", messages,
            "t_avg", average,
            "tps_average", perSecond));
  }

  private void print(String text, Map<String, Object> result) {
    results.add(result);
    if (style.output() != Output.JSON) {
      out.println(text);
      out.flush();
    }
  }

  /** Prints what comes after all results. */
  void end() {
    if (table) {
      out.println(LINE);
    }
    String json = Json.text(Json.object("test_info", info, "results", results));
    if (style.output() == Output.JSON) {
      out.println(json);
    }
    out.flush();
    if (style.jsonFile() != null) {
      try {
        Files.writeString(Objects.requireNonNull(style.jsonFile()), json + System.lineSeparator());
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }
}
