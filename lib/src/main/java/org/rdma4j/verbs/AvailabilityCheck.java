package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.MissingLibraryException;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.Descriptors;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.verbs.RdmaAvailability.Status;
import org.rdma4j.verbs.attribute.PortState;

/**
 * Finds out whether this process can use RDMA, in the order in which the layers build on each
 * other.
 */
final class AvailabilityCheck {
  /**
   * What the answer depends on. Each method throws an exception if what it asks for does not work.
   */
  interface Machine {
    /** Loads libibverbs and librdmacm. */
    void loadLibraries();

    /** Returns the names of the devices that libibverbs lists. */
    List<String> devices();

    /** Returns the kernel's files of devices. */
    DeviceFiles files();

    /** Opens a device and returns whether it has an active port. */
    boolean hasActivePort(String device);

    /** Opens an event channel of the connection manager. */
    void openEventChannel();
  }

  private final Machine machine;

  private AvailabilityCheck(Machine machine) {
    this.machine = machine;
  }

  static RdmaAvailability of(Machine machine) {
    try {
      return new AvailabilityCheck(machine).libraries();
    } catch (RuntimeException failed) {
      return unavailable(Status.FAILED, message(failed));
    }
  }

  private RdmaAvailability libraries() {
    try {
      machine.loadLibraries();
    } catch (MissingLibraryException missing) {
      return unavailable(Status.NO_LIBRARY, message(missing));
    } catch (RdmaException failed) {
      if (failed.getCause() instanceof IllegalCallerException) {
        return unavailable(Status.NATIVE_ACCESS_DENIED, message(failed));
      }
      throw failed;
    }
    return devices();
  }

  private RdmaAvailability devices() {
    List<String> names = machine.devices();
    if (names.isEmpty()) {
      DeviceFiles files = machine.files();
      return unavailable(
          files.kernelHasDevices() ? Status.NO_ACCESS_TO_DEVICES : Status.NO_DEVICE,
          files.whyNoneIsListed());
    }
    List<String> active = new ArrayList<>();
    List<String> inactive = new ArrayList<>();
    RdmaException refusal = null;
    for (String name : names) {
      try {
        (machine.hasActivePort(name) ? active : inactive).add(name);
      } catch (RdmaException refused) {
        throwIfShort(refused);
        refusal = refusal == null ? refused : refusal;
      }
    }
    return active.isEmpty() ? unusable(inactive, refusal) : connectionManager(active);
  }

  private static RdmaAvailability unusable(List<String> inactive, @Nullable RdmaException refusal) {
    return inactive.isEmpty() && refusal != null
        ? unavailable(Status.NO_ACCESS_TO_DEVICES, message(refusal))
        : unavailable(
            Status.NO_ACTIVE_PORT,
            "No port of "
                + String.join(", ", inactive)
                + " is active. Connect it, or bring its network interface up ('rdma link' shows the"
                + " state of each port)");
  }

  private RdmaAvailability connectionManager(List<String> active) {
    String devices = String.join(", ", active);
    try {
      machine.openEventChannel();
    } catch (RdmaException failed) {
      throwIfShort(failed);
      return new RdmaAvailability(
          Status.NO_CONNECTION_MANAGER,
          active,
          "RDMA is available with "
              + devices
              + ", but the connection manager is not: "
              + message(failed));
    }
    return new RdmaAvailability(Status.AVAILABLE, active, "RDMA is available with " + devices);
  }

  private static RdmaAvailability unavailable(Status status, String reason) {
    return new RdmaAvailability(status, List.of(), "RDMA is not available. " + reason);
  }

  /** A process that is out of file descriptors learns nothing about devices and their files. */
  private static void throwIfShort(RdmaException refused) {
    if (Descriptors.isShortage(refused.errno())) {
      throw refused;
    }
  }

  private static String message(RuntimeException failed) {
    String message = failed.getMessage();
    return message == null ? failed.toString() : message;
  }

  /** The machine that this process runs on. */
  static final class ThisMachine implements Machine {
    @Override
    public void loadLibraries() {
      NativeLibraries.require();
    }

    @Override
    public List<String> devices() {
      return RdmaDevice.list().stream().map(DeviceInfo::name).toList();
    }

    @Override
    public DeviceFiles files() {
      return DeviceFiles.ofThisMachine();
    }

    @Override
    public boolean hasActivePort(String name) {
      try (RdmaDevice device = RdmaDevice.open(name)) {
        for (int port = 1; port <= device.limits().ports(); port++) {
          PortState state = device.port(port).attributes().state();
          if (state == PortState.ACTIVE || state == PortState.ACTIVE_DEFER) {
            return true;
          }
        }
        return false;
      }
    }

    @Override
    public void openEventChannel() {
      Descriptors.require("rdma_create_event_channel");
      MemorySegment channel = Calls.pointer(rdma_h.rdma_create_event_channel$address());
      if (channel.address() == 0) {
        throw new RdmaException("rdma_create_event_channel", Errno.errno());
      }
      rdma_h.rdma_destroy_event_channel(channel);
    }
  }
}
