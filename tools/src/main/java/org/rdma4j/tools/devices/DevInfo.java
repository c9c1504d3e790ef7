package org.rdma4j.tools.devices;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.DeviceOptions;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.GidText;
import org.rdma4j.tools.command.Version;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.attribute.AtomicCapability;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.Mtu;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.PortState;
import org.rdma4j.verbs.attribute.TransportType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Does what ibv_devinfo does. */
@Command(
    description = "Shows the attributes of RDMA devices and their ports, as ibv_devinfo does.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class DevInfo implements Runnable {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final DeviceOptions options = new DeviceOptions();

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "show only this port, counted from 1 (default: all ports)")
  @Nullable Integer port;

  @Option(
      names = {"-l", "--list"},
      description = "print only the names of the devices")
  boolean list;

  @Option(
      names = {"-v", "--verbose"},
      description = "print all attributes of device and port, and the GID table")
  boolean verbose;

  @Override
  public void run() {
    if (port != null && port < 1) {
      throw new ParameterException(spec.commandLine(), "-i is " + port + ", must be at least 1");
    }
    if (list) {
      printNames(RdmaDevice.list());
      return;
    }
    for (DeviceInfo info : options.selected()) {
      try (RdmaDevice device = RdmaDevice.open(info.name())) {
        print(device);
      }
    }
  }

  private void printNames(List<DeviceInfo> devices) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf("%d HCA%s found:%n", devices.size(), devices.size() == 1 ? "" : "s");
    devices.forEach(device -> out.printf("\t%s%n", device.name()));
    out.println();
  }

  private void print(RdmaDevice device) {
    DeviceAttributes a = device.attributes();
    if (port != null && port > a.ports()) {
      throw new Failure(
          "-i is %d, must be from 1 to %d, the number of ports of %s"
              .formatted(port, a.ports(), device.info().name()));
    }
    spec.commandLine().getOut().printf("hca_id:\t%s%n", device.info().name());
    TransportType transport = device.info().transport();
    line(1, "transport", "%s (%d)".formatted(text(transport), transport.value()));
    if (!a.firmwareVersion().isEmpty()) {
      line(1, "fw_ver", a.firmwareVersion());
    }
    line(1, "node_guid", a.nodeGuid());
    line(1, "sys_image_guid", a.systemImageGuid());
    line(1, "vendor_id", "0x%04x".formatted(a.vendorId()));
    line(1, "vendor_part_id", a.vendorPartId());
    line(1, "hw_ver", "0x%X".formatted(a.hardwareVersion()));
    String board = board(device.info());
    if (!board.isEmpty()) {
      line(1, "board_id", board);
    }
    line(1, "phys_port_cnt", a.ports());
    if (verbose) {
      printCapacities(a);
      line(1, "num_comp_vectors", device.completionVectors());
    }
    for (int number = 1; number <= a.ports(); number++) {
      if (port == null || port == number) {
        print(device, number);
      }
    }
  }

  private void printCapacities(DeviceAttributes a) {
    line(1, "max_mr_size", "0x%x".formatted(a.maxMemoryRegionSize()));
    line(1, "page_size_cap", "0x%x".formatted(a.pageSizeCapabilities()));
    line(1, "max_qp", a.maxQueuePairs());
    line(1, "max_qp_wr", a.maxWorkRequests());
    line(1, "device_cap_flags", "0x%08x".formatted(a.capabilityFlags()));
    printFlags(a.capabilityFlags());
    line(1, "max_sge", a.maxSges());
    line(1, "max_sge_rd", a.maxReadSges());
    line(1, "max_cq", a.maxCompletionQueues());
    line(1, "max_cqe", a.maxCompletionQueueEntries());
    line(1, "max_mr", a.maxMemoryRegions());
    line(1, "max_pd", a.maxProtectionDomains());
    line(1, "max_qp_rd_atom", a.maxRemoteReads());
    line(1, "max_ee_rd_atom", a.maxEeRemoteReads());
    line(1, "max_res_rd_atom", a.maxTotalRemoteReads());
    line(1, "max_qp_init_rd_atom", a.maxReads());
    line(1, "max_ee_init_rd_atom", a.maxEeReads());
    line(
        1,
        "atomic_cap",
        "%s (%d)".formatted(text(a.atomicCapability()), a.atomicCapability().value()));
    line(1, "max_ee", a.maxEeContexts());
    line(1, "max_rdd", a.maxReliableDatagramDomains());
    line(1, "max_mw", a.maxMemoryWindows());
    line(1, "max_raw_ipv6_qp", a.maxRawIpv6QueuePairs());
    line(1, "max_raw_ethy_qp", a.maxRawEthernetQueuePairs());
    line(1, "max_mcast_grp", a.maxMulticastGroups());
    line(1, "max_mcast_qp_attach", a.maxMulticastQueuePairsPerGroup());
    line(1, "max_total_mcast_qp_attach", a.maxMulticastQueuePairs());
    line(1, "max_ah", a.maxAddressHandles());
    line(1, "max_fmr", a.maxFastMemoryRegions());
    if (a.maxFastMemoryRegions() != 0) {
      line(1, "max_map_per_fmr", a.maxMapsPerFastMemoryRegion());
    }
    line(1, "max_srq", a.maxSharedReceiveQueues());
    if (a.maxSharedReceiveQueues() != 0) {
      line(1, "max_srq_wr", a.maxSharedReceiveQueueRequests());
      line(1, "max_srq_sge", a.maxSharedReceiveQueueSges());
    }
    line(1, "max_pkeys", a.maxPartitionKeys());
    line(1, "local_ca_ack_delay", a.localAckDelay());
  }

  private void print(RdmaDevice device, int number) {
    PortAttributes a = device.port(number).attributes();
    PrintWriter out = spec.commandLine().getOut();
    out.printf("\t\tport:\t%d%n", number);
    line(3, "state", "%s (%d)".formatted(text(a.state()), a.state().value()));
    line(3, "max_mtu", text(a.maxMtu()));
    line(3, "active_mtu", text(a.activeMtu()));
    line(3, "sm_lid", a.subnetManagerLid());
    line(3, "port_lid", a.lid());
    line(3, "port_lmc", "0x%02x".formatted(a.lidMaskControl()));
    line(3, "link_layer", text(a.linkLayer()));
    if (verbose) {
      line(3, "max_msg_sz", "0x%x".formatted(a.maxMessageSize()));
      line(3, "port_cap_flags", "0x%08x".formatted(a.capabilityFlags()));
      line(3, "port_cap_flags2", "0x%04x".formatted(a.capabilityFlags2()));
      line(
          3,
          "max_vl_num",
          "%s (%d)".formatted(virtualLanes(a.maxVirtualLanes()), a.maxVirtualLanes()));
      line(3, "bad_pkey_cntr", "0x%x".formatted(a.badPartitionKeys()));
      line(3, "qkey_viol_cntr", "0x%x".formatted(a.qkeyViolations()));
      line(3, "sm_sl", a.subnetManagerServiceLevel());
      line(3, "pkey_tbl_len", a.partitionKeyTableLength());
      line(3, "gid_tbl_len", a.gidTableLength());
      line(3, "subnet_timeout", a.subnetTimeout());
      line(3, "init_type_reply", a.initTypeReply());
      line(3, "active_width", "%sX (%d)".formatted(width(a.activeWidth()), a.activeWidth()));
      line(3, "active_speed", "%s (%d)".formatted(speed(a.activeSpeed()), a.activeSpeed()));
      if (device.info().transport() == TransportType.INFINIBAND) {
        line(
            3,
            "phys_state",
            "%s (%d)".formatted(physicalState(a.physicalState()), a.physicalState()));
      }
      for (GidEntry entry : device.port(number).gids()) {
        if (entry.gid().interfaceId() != 0) {
          print(entry, a.linkLayer());
        }
      }
    }
    out.println();
  }

  private void print(GidEntry entry, LinkLayer linkLayer) {
    boolean version2 = entry.type() == GidType.ROCE_V2;
    line(
        3,
        "GID[%3d]".formatted(entry.index()),
        (version2 ? entry.gid().toString() : GidText.groups(entry.gid()))
            + (linkLayer != LinkLayer.ETHERNET ? "" : version2 ? ", RoCE v2" : ", RoCE v1"));
  }

  /**
   * Prints a name, tabs up to the column of the values (40 for a device, 48 for a port), and a
   * value.
   */
  private void line(int indent, String name, Object value) {
    int column = indent == 1 ? 40 : 48;
    int width = indent * 8 + name.length() + 1;
    int tabs = Math.max(1, (column - width + 7) / 8);
    spec.commandLine()
        .getOut()
        .println("\t".repeat(indent) + name + ":" + "\t".repeat(tabs) + value);
  }

  private void printFlags(int flags) {
    PrintWriter out = spec.commandLine().getOut();
    int unknown = flags;
    for (Map.Entry<Integer, String> flag : CAPABILITIES.entrySet()) {
      int mask = 1 << flag.getKey();
      if ((flags & mask) != 0) {
        out.println("\t\t\t\t\t" + flag.getValue());
      }
      unknown &= ~mask;
    }
    if (unknown != 0) {
      out.printf("\t\t\t\t\tUnknown flags: 0x%X%n", unknown);
    }
  }

  /** The names of the flags of enum ibv_device_cap_flags, by the number of their bit. */
  private static final Map<Integer, String> CAPABILITIES =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry(0, "RESIZE_MAX_WR"),
              Map.entry(1, "BAD_PKEY_CNTR"),
              Map.entry(2, "BAD_QKEY_CNTR"),
              Map.entry(3, "RAW_MULTI"),
              Map.entry(4, "AUTO_PATH_MIG"),
              Map.entry(5, "CHANGE_PHY_PORT"),
              Map.entry(6, "UD_AV_PORT_ENFORCE"),
              Map.entry(7, "CURR_QP_STATE_MOD"),
              Map.entry(8, "SHUTDOWN_PORT"),
              Map.entry(9, "INIT_TYPE"),
              Map.entry(10, "PORT_ACTIVE_EVENT"),
              Map.entry(11, "SYS_IMAGE_GUID"),
              Map.entry(12, "RC_RNR_NAK_GEN"),
              Map.entry(13, "SRQ_RESIZE"),
              Map.entry(14, "N_NOTIFY_CQ"),
              Map.entry(17, "MEM_WINDOW"),
              Map.entry(18, "UD_IP_CSUM"),
              Map.entry(20, "XRC"),
              Map.entry(21, "MEM_MGT_EXTENSIONS"),
              Map.entry(23, "MEM_WINDOW_TYPE_2A"),
              Map.entry(24, "MEM_WINDOW_TYPE_2B"),
              Map.entry(25, "RC_IP_CSUM"),
              Map.entry(26, "RAW_IP_CSUM"),
              Map.entry(29, "MANAGED_FLOW_STEERING")));

  /** Returns the name of the board, empty if the device has none, as a software device. */
  private static String board(DeviceInfo device) {
    try {
      return Files.readString(Path.of(device.systemPath(), "board_id")).strip();
    } catch (IOException none) {
      return "";
    }
  }

  private static String text(TransportType transport) {
    return switch (transport) {
      case INFINIBAND -> "InfiniBand";
      case IWARP -> "iWARP";
      case USNIC -> "usNIC";
      case USNIC_UDP -> "usNIC UDP";
      case UNSPECIFIED -> "unspecified";
      case UNKNOWN -> "invalid transport";
    };
  }

  private static String text(PortState state) {
    return switch (state) {
      case DOWN, INIT, ARMED, ACTIVE -> "PORT_" + state;
      case NOP, ACTIVE_DEFER -> "invalid state";
    };
  }

  private static String text(AtomicCapability atomics) {
    return switch (atomics) {
      case NONE -> "ATOMIC_NONE";
      case DEVICE -> "ATOMIC_HCA";
      case SYSTEM -> "ATOMIC_GLOB";
    };
  }

  private static String text(Mtu mtu) {
    return mtu.bytes() + " (" + mtu.value() + ")";
  }

  private static String text(LinkLayer linkLayer) {
    return switch (linkLayer) {
      case UNSPECIFIED -> "Unspecified";
      case INFINIBAND -> "InfiniBand";
      case ETHERNET -> "Ethernet";
    };
  }

  private static String virtualLanes(int code) {
    return switch (code) {
      case 1, 2, 3, 4 -> String.valueOf(1 << (code - 1));
      case 5 -> "15";
      default -> "invalid value";
    };
  }

  private static String width(int code) {
    return switch (code) {
      case 1 -> "1";
      case 2 -> "4";
      case 4 -> "8";
      case 8 -> "12";
      case 16 -> "2";
      default -> "invalid width";
    };
  }

  private static String speed(int code) {
    return switch (code) {
      case 1 -> "2.5 Gbps";
      case 2 -> "5.0 Gbps";
      case 4, 8 -> "10.0 Gbps";
      case 16 -> "14.0 Gbps";
      case 32 -> "25.0 Gbps";
      case 64 -> "50.0 Gbps";
      case 128 -> "100.0 Gbps";
      default -> "invalid speed";
    };
  }

  private static String physicalState(int code) {
    return switch (code) {
      case 1 -> "SLEEP";
      case 2 -> "POLLING";
      case 3 -> "DISABLED";
      // Misspelled as in ibv_devinfo, since scripts may look for it.
      case 4 -> "PORT_CONFIGURATION TRAINNING";
      case 5 -> "LINK_UP";
      case 6 -> "LINK_ERROR_RECOVERY";
      case 7 -> "PHY TEST";
      default -> "invalid physical state";
    };
  }
}
