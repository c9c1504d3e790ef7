package org.rdma4j.tools.perftest;

import java.io.PrintWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.DeviceOptions;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.OptionRange;
import org.rdma4j.tools.command.PeerOptions;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.Mtu;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of all tests. */
final class TestOptions {
  private static final int MAX_ITERATIONS = 100_000_000;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final PeerOptions peer = new PeerOptions(18515);

  @Mixin final DeviceOptions device = new DeviceOptions();

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: ${DEFAULT-VALUE})")
  int devicePort = 1;

  @Option(
      names = {"-x", "--gid-index"},
      paramLabel = "INDEX",
      description =
          "the index of the local GID (default: on Ethernet, that of the first IPv4 address for"
              + " RoCE v2; on InfiniBand, none)")
  @Nullable Integer gidIndex;

  @Option(names = "--ipv6", description = "by default, choose a GID of IPv6 rather than of IPv4")
  boolean ipv6;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description =
          "the path MTU: 256, 512, 1024, 2048 or 4096 (default: the active MTU of the port); both"
              + " sides use the smaller one")
  @Nullable Integer mtu;

  @Option(
      names = {"-c", "--connection"},
      paramLabel = "TYPE",
      description =
          "the type of the queue pairs: RC, UC (sends and writes) or UD (sends)"
              + " (default: ${DEFAULT-VALUE})")
  Transport transport = Transport.RC;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "the number of messages of each queue pair (default: 1000; write-bw: 5000)")
  @Nullable Integer iterations;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "SECONDS",
      description = "test for so long, instead of for a number of messages")
  @Nullable Integer seconds;

  @Option(
      names = {"-f", "--margin"},
      paramLabel = "SECONDS",
      description =
          "with -D, how long not to measure at the beginning and at the end (default: a quarter)")
  @Nullable Integer margin;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "the number of messages at the beginning that are not measured; the peer need not know"
              + " (default: ${DEFAULT-VALUE})")
  long warmup;

  @Option(
      names = {"-u", "--qp-timeout"},
      paramLabel = "EXPONENT",
      description =
          "send a message again after 4.096 us times 2 to this power (default: ${DEFAULT-VALUE})")
  int resendTimeout = 14;

  @Option(
      names = {"-S", "--sl"},
      paramLabel = "LEVEL",
      description = "the service level, 0 to 15 (default: ${DEFAULT-VALUE})")
  int serviceLevel;

  @Option(
      names = "--tclass",
      paramLabel = "CLASS",
      description = "the traffic class, 0 to 255 (default: ${DEFAULT-VALUE})")
  int trafficClass;

  @Option(
      names = {"-R", "--rdma_cm"},
      description =
          "connect the queue pairs, and exchange everything else, through the connection manager;"
              + " both sides need it, and the server's name must lead to its RDMA device")
  boolean connectionManager;

  @Option(
      names = "--output",
      paramLabel = "WHAT",
      description =
          "print one number (bandwidth or message_rate; latency) or a JSON object (json) instead of"
              + " a table")
  @Nullable String output;

  @Option(names = "--out_json", description = "also write a JSON object to a file")
  boolean writesJson;

  @Option(
      names = "--out_json_file",
      paramLabel = "FILE",
      description = "the file of --out_json (default: ${DEFAULT-VALUE})")
  Path jsonFile = Path.of("perftest_out.json");

  @Option(
      names = "--progress",
      description = "print the progress to standard error even if that is not a terminal")
  boolean progress;

  @Option(
      names = {"-F", "--CPU-freq", "--use_old_post_send", "--disable_pcie_relaxed"},
      hidden = true,
      description = "accepted, because commands for perftest often have them; without effect")
  boolean ignored;

  /** Fills in the draft of the settings. */
  void fill(Settings.Draft draft) {
    peer.check();
    checkRange("-i", devicePort, 1, 255);
    checkRange("-u", resendTimeout, 0, 31);
    checkRange("-S", serviceLevel, 0, 15);
    checkRange("--tclass", trafficClass, 0, 255);
    if (gidIndex != null) {
      checkRange("-x", gidIndex, 0, 255);
    }
    if (iterations != null) {
      checkRange("-n", iterations, 5, MAX_ITERATIONS);
      draft.iterations = iterations;
    }
    if (seconds != null) {
      checkRange("-D", seconds, 1, 1_000_000);
      draft.seconds = seconds;
    }
    if (margin != null) {
      checkRange("-f", margin, 0, 1_000_000);
      draft.margin = margin;
    }
    if (warmup < 0) {
      throw misuse("--warmup is %d, must be at least 0".formatted(warmup));
    }
    if (connectionManager && transport == Transport.UC) {
      throw misuse("-c UC is not possible with -R: the connection manager connects RC and UD");
    }
    if (mtu != null) {
      requestedMtu(mtu);
    }
    draft.warmup = warmup;
    draft.transport = transport;
    draft.server = peer.isServer();
    draft.timeout = peer.timeout();
  }

  /**
   * Returns what to print.
   *
   * @param bandwidth whether the test measures bandwidth
   */
  Output output(boolean bandwidth) {
    if (output == null) {
      return Output.TABLE;
    }
    return switch (output) {
      case "json" -> Output.JSON;
      case "bandwidth" -> one(bandwidth, Output.BANDWIDTH);
      case "message_rate" -> one(bandwidth, Output.MESSAGE_RATE);
      case "latency" -> one(!bandwidth, Output.LATENCY);
      default -> one(false, Output.TABLE);
    };
  }

  private Output one(boolean possible, Output chosen) {
    if (!possible) {
      throw misuse(
          "--output is %s, must be bandwidth, message_rate or json for bandwidth, latency or json for latency"
              .formatted(output));
    }
    return chosen;
  }

  @Nullable Path jsonFile() {
    return writesJson ? jsonFile : null;
  }

  boolean throughCm() {
    return connectionManager;
  }

  /** Returns the port that the options name. */
  LocalPort port(RdmaDevice opened) {
    return port(opened, devicePort);
  }

  /** Returns a port with the GID that the options name. */
  LocalPort port(RdmaDevice opened, int number) {
    return LocalPort.of(opened, number, gidIndex == null ? PathConfig.NO_GID : gidIndex, ipv6);
  }

  /** Checks that the connection manager leads to the device that was given. */
  void requireDevice(RdmaDevice found) {
    String wanted = device.device();
    if (wanted != null && !wanted.equals(found.info().name())) {
      throw new Failure(
          "-d is %s, but the connection manager uses %s for this address; leave -d out, or give an address of %s"
              .formatted(wanted, found.info().name(), wanted));
    }
  }

  /** Returns the MTU that this side wants. */
  Mtu mtu(Mtu active) {
    if (mtu == null) {
      return active;
    }
    Mtu wanted = requestedMtu(mtu);
    if (wanted.bytes() > active.bytes()) {
      throw new Failure(
          "-m is %d, must be at most %d, the active MTU of the port"
              .formatted(wanted.bytes(), active.bytes()));
    }
    return wanted;
  }

  private Mtu requestedMtu(int bytes) {
    try {
      return Mtu.ofBytes(bytes);
    } catch (IllegalArgumentException invalid) {
      throw new ParameterException(spec.commandLine(), "-m: " + invalid.getMessage(), invalid);
    }
  }

  /** Returns how queue pairs are connected without the connection manager. */
  Links.Path path(Mtu agreed) {
    return new Links.Path(agreed, serviceLevel, trafficClass, resendTimeout);
  }

  String name() {
    return spec.name();
  }

  PrintWriter out() {
    return spec.commandLine().getOut();
  }

  PrintWriter err() {
    return spec.commandLine().getErr();
  }

  void checkRange(String option, int value, int min, int max) {
    OptionRange.check(spec, option, value, min, max);
  }

  ParameterException misuse(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
