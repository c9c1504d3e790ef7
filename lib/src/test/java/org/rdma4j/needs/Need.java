package org.rdma4j.needs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.DeviceOperation;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.AtomicCapability;
import org.rdma4j.verbs.attribute.DeviceCapability;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * What a test may need of the device besides reliable connections that the connection manager
 * makes. A test declares a need by a tag: {@code @Tag("needs-datagrams")}.
 */
enum Need {
  /** Queue pairs that a program connects by their addresses, without the connection manager. */
  CONNECTING_BY_ADDRESS,
  DATAGRAMS,
  UNRELIABLE_CONNECTIONS,
  IMMEDIATE_DATA,
  /** Sends that complete when the peer has taken the message; over iWARP, when TCP has it. */
  ACKNOWLEDGED_SENDS,
  /** A completion status with the reason why the peer refused an access. */
  REMOTE_ERRORS,
  /** The events and the reasons of rejections that iWARP does not have. */
  INFINIBAND_CONNECTION_MANAGER,
  /** A table of GIDs that contain the addresses of the port's network interface. */
  IP_GIDS,
  PARTITION_KEYS,
  ATOMICS,
  MEMORY_WINDOWS,
  MULTICAST,
  RESIZING_COMPLETION_QUEUES,
  EXTENDED_QUEUE_PAIRS,
  EXTENDED_COMPLETION_QUEUES,
  /** Regions of more than 1 GiB, which soft-RoCE of newer kernels refuses. */
  LARGE_REGIONS,
  ZERO_BASED_REGIONS,
  /** Remote addresses that a program chooses for a region, which soft-iWARP ignores. */
  CONFIGURED_REMOTE_ADDRESSES,
  /** Events for solicited messages only, which soft-iWARP never raises. */
  SOLICITED_EVENTS,
  /** States of a queue pair that a program sets and reads, which soft-iWARP does otherwise. */
  QUEUE_PAIR_STATES,
  /** Reads of memory without REMOTE_READ are refused, which soft-iWARP does not do. */
  REFUSED_READS,
  /** A server that sends before its client does, which can end a connection over soft-iWARP. */
  SERVERS_THAT_SEND_FIRST,
  /** Hundreds of queue pairs, for which soft-iWARP has no space. */
  MANY_QUEUE_PAIRS,
  /** Atomic writes, which libmlx5 cannot post. */
  ATOMIC_WRITES,
  RESIZING_SHARED_RECEIVE_QUEUES,
  /** The refusal of an operation that adapters have and software devices do not. */
  REFUSALS_OF_SOFTWARE,
  /** The program {@code cmtime} of rdma-core 44. Newer ones print something else. */
  OLD_CMTIME,
  /** Queues that are used by functions of the provider, and not in place. */
  QUEUES_BY_PROVIDER,
  /** What only soft-RoCE does, also where tests state its exact behaviour. */
  SOFT_ROCE;

  private static final String PREFIX = "needs-";

  /** The system property that makes queues of mlx5 ones that are used in place. */
  private static final String QUEUES = "org.rdma4j.queues";

  boolean isMetBy(RdmaDevice device) {
    return switch (this) {
      case CONNECTING_BY_ADDRESS,
          DATAGRAMS,
          UNRELIABLE_CONNECTIONS,
          IMMEDIATE_DATA,
          ACKNOWLEDGED_SENDS,
          REMOTE_ERRORS,
          INFINIBAND_CONNECTION_MANAGER,
          IP_GIDS ->
          device.info().transport() == TransportType.INFINIBAND;
      case PARTITION_KEYS -> device.port(1).attributes().partitionKeyTableLength() > 0;
      case ATOMICS -> device.attributes().atomicCapability() != AtomicCapability.NONE;
      case MEMORY_WINDOWS -> device.supports(DeviceOperation.ALLOCATE_MEMORY_WINDOW);
      case MULTICAST -> device.attributes().maxMulticastGroups() > 0;
      case RESIZING_COMPLETION_QUEUES -> device.supports(DeviceOperation.RESIZE_COMPLETION_QUEUE);
      case EXTENDED_QUEUE_PAIRS -> device.supports(DeviceOperation.CREATE_EXTENDED_QUEUE_PAIR);
      case EXTENDED_COMPLETION_QUEUES -> createsExtendedQueues(device);
      case LARGE_REGIONS -> registers(device, (1L << 30) + 4096, AccessFlag.LOCAL_WRITE);
      case ZERO_BASED_REGIONS ->
          !isSoftIwarp(device) && registers(device, 4096, AccessFlag.ZERO_BASED);
      case CONFIGURED_REMOTE_ADDRESSES,
          SOLICITED_EVENTS,
          QUEUE_PAIR_STATES,
          REFUSED_READS,
          SERVERS_THAT_SEND_FIRST,
          MANY_QUEUE_PAIRS ->
          !isSoftIwarp(device);
      case ATOMIC_WRITES, REFUSALS_OF_SOFTWARE -> !isMlx5(device);
      case RESIZING_SHARED_RECEIVE_QUEUES ->
          device
              .extendedAttributes()
              .capabilities()
              .contains(DeviceCapability.RESIZE_SHARED_RECEIVE_QUEUE);
      case OLD_CMTIME -> !textOf("/usr/bin/cmtime").contains("mimic_qp_delay");
      case QUEUES_BY_PROVIDER -> !isMlx5(device) || System.getProperty(QUEUES) == null;
      case SOFT_ROCE -> device.info().name().startsWith("rxe");
    };
  }

  private static boolean isSoftIwarp(RdmaDevice device) {
    return device.info().name().startsWith("siw");
  }

  private static boolean isMlx5(RdmaDevice device) {
    return device.info().name().startsWith("mlx5");
  }

  private static boolean createsExtendedQueues(RdmaDevice device) {
    try (CompletionQueue queue =
        device.createCompletionQueue(CompletionQueueConfig.of(1).extended())) {
      return queue.capacity() >= 1;
    } catch (UnsupportedByDeviceException refused) {
      return false;
    }
  }

  private static boolean registers(RdmaDevice device, long length, AccessFlag flag) {
    try (ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(length, flag)) {
      return region.segment().byteSize() == length;
    } catch (RdmaException refused) {
      return false;
    }
  }

  private static String textOf(String program) {
    try {
      return Files.readString(Path.of(program), StandardCharsets.ISO_8859_1);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Returns the tag, such as {@code needs-datagrams}. */
  String tag() {
    return PREFIX + words().replace(' ', '-');
  }

  /** Returns the name for messages, such as {@code connecting by address}. */
  String words() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /**
   * Returns the needs that tags declare.
   *
   * @throws IllegalArgumentException if a tag begins like one of a need, and is none
   */
  static List<Need> of(Iterable<String> tags) {
    List<Need> needs = new ArrayList<>();
    for (String tag : tags) {
      if (tag.startsWith(PREFIX)) {
        needs.add(
            Arrays.stream(values())
                .filter(need -> need.tag().equals(tag))
                .findFirst()
                .orElseThrow(
                    () ->
                        new IllegalArgumentException("the tag " + tag + " is none of " + tags())));
      }
    }
    return needs;
  }

  private static List<String> tags() {
    return Arrays.stream(values()).map(Need::tag).toList();
  }
}
