package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_device;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.Descriptors;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.platform.NetworkOrder;
import org.rdma4j.verbs.attribute.Guid;
import org.rdma4j.verbs.attribute.NodeType;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * The devices of this machine: {@code ibv_get_device_list}. Devices are used only while the native
 * list exists.
 */
final class DeviceList {
  private static final String LIST = "ibv_get_device_list";

  private DeviceList() {}

  /** Returns what is known of each device without opening it. */
  static List<DeviceInfo> infos() {
    return with(devices -> devices.stream().map(DeviceList::info).toList());
  }

  /** Calls the function with the device of that name and returns its result. */
  static <T> T find(String name, BiFunction<MemorySegment, DeviceInfo, T> use) {
    return with(
        devices -> {
          for (MemorySegment device : devices) {
            DeviceInfo info = info(device);
            if (info.name().equals(name)) {
              return use.apply(device, info);
            }
          }
          Descriptors.require(LIST);
          throw noSuchDevice(name, devices);
        });
  }

  private static RdmaException noSuchDevice(String name, List<MemorySegment> devices) {
    String names =
        devices.stream().map(device -> info(device).name()).collect(Collectors.joining(", "));
    return new RdmaException(
        "ibv_open_device(" + name + ")",
        ErrorNumber.ENODEV.value(),
        names.isEmpty()
            ? DeviceFiles.ofThisMachine().whyNoneIsListed()
            : "On this machine there are " + names);
  }

  private interface Use<T> {
    T with(List<MemorySegment> devices);
  }

  private static <T> T with(Use<T> use) {
    NativeLibraries.require();
    Descriptors.require(LIST);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      MemorySegment list = Calls.pointer(rdma_h.ibv_get_device_list$address(), count);
      if (list.address() == 0) {
        // libibverbs reports ENOSYS if the kernel has no RDMA subsystem.
        int errno = Errno.errno();
        if (errno == ErrorNumber.ENOSYS.value()) {
          Descriptors.require(LIST);
          return use.with(List.of());
        }
        throw new RdmaException(LIST, errno);
      }
      try {
        List<MemorySegment> devices = new ArrayList<>();
        for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
          devices.add(list.getAtIndex(ADDRESS, i).reinterpret(ibv_device.layout().byteSize()));
        }
        if (devices.isEmpty()) {
          Descriptors.require(LIST);
        }
        return use.with(devices);
      } finally {
        rdma_h.ibv_free_device_list(list);
      }
    }
  }

  /** Reads a {@code struct ibv_device}. */
  static DeviceInfo info(MemorySegment device) {
    long guid = rdma_h.ibv_get_device_guid(device);
    return new DeviceInfo(
        rdma_h.ibv_get_device_name(device).getString(0),
        new Guid(NetworkOrder.of(guid)),
        NativeConstants.of(NodeType.class, ibv_device.node_type(device), NodeType.UNKNOWN),
        NativeConstants.of(
            TransportType.class, ibv_device.transport_type(device), TransportType.UNKNOWN),
        ibv_device.ibdev_path(device).getString(0),
        rdma_h.ibv_get_device_index(device));
  }
}
