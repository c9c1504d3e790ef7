package org.rdma4j;

/** What a user can do about a failed call, by the C function and the errno value. */
final class Advice {
  private static final String NOT_SUPPORTED =
      "The device's provider or its kernel driver does not support the call";
  private static final String NO_REASON =
      "The function set no errno. Providers do this with arguments that they do not support: compare"
          + " them with what RdmaDevice.attributes() and extendedAttributes() say";
  private static final String REMOVED =
      "The device was removed or its driver was unloaded: close it and open it again";
  private static final String REMOVED_BEFORE_OPEN =
      "The device was removed: RdmaDevice.list() returns the devices that are there now";
  private static final String NO_DEVICE =
      "This process sees no RDMA device. 'rdma link' shows the devices of this machine, and"
          + " RdmaDevice.availability() says what is missing";
  private static final String NO_DEVICE_AT_ADDRESS =
      "No RDMA device that this process can open has this address or leads to it. Use an address of"
          + " a device's network interface: 'rdma link' shows the interfaces, 'ip address' their"
          + " addresses. 127.0.0.1 and ::1 belong to no device, nor does the wildcard address";
  private static final String NOT_A_LOCAL_ADDRESS =
      "No network interface of this machine has this address: 'ip address' shows their addresses";
  private static final String NOT_A_LOCAL_ADDRESS_OR_TAKEN =
      NOT_A_LOCAL_ADDRESS
          + ". If an interface has it, or it is the wildcard address, the port is in use: 'rdma resource"
          + " show cm_id' shows by which process";
  private static final String PORT_TAKEN =
      "The port is in use: choose another one, or 0 for any; 'rdma resource show cm_id' shows which"
          + " process uses it";
  private static final String NO_ROUTE =
      "This machine has no route to the address: 'ip route' shows its routes";
  private static final String NO_HOST = "No host answers at the address";
  private static final String TOO_MANY_FILES =
      "Raise the limit of open files (ulimit -n), or close objects that are no longer used";
  private static final String TOO_MANY_FILES_IN_SYSTEM =
      "All processes together have too many files open: raise fs.file-max (sysctl)";
  private static final String PORT_NEEDS_RIGHTS =
      "The port is one of those that need the right CAP_NET_BIND_SERVICE: choose one from 1024 on,"
          + " or grant the right ('sysctl net.ipv4.ip_unprivileged_port_start' shows the first port"
          + " that needs none)";
  private static final String MEMORY_NOT_WRITABLE =
      "The memory is not mapped, or may only be read: map a file with READ_WRITE, or register the"
          + " memory without LOCAL_WRITE, REMOTE_WRITE and REMOTE_ATOMIC. Over soft-RoCE and other"
          + " drivers, a file that is mapped with READ_ONLY cannot be registered at all: copy it"
          + " into memory that register(bytes) allocates";
  private static final String MEMLOCK =
      "Registered memory is locked: raise the memlock limit (ulimit -l, or LimitMEMLOCK= of the"
          + " service), or register less. A driver may refuse a large region whatever the limit:"
          + " soft-RoCE of newer kernels takes at most 1 GiB at once, so register several regions";
  private static final String QUEUE_FULL =
      "The queue is full: poll completions before posting more, or create a longer queue";
  private static final String DEVICE_FILE =
      "The device's file /dev/infiniband/uverbs* cannot be opened. Allow this user to read and write"
          + " it (ls -l /dev/infiniband shows its group and mode), load the kernel module ib_uverbs,"
          + " or pass /dev/infiniband into the container";
  private static final String CONNECTION_MANAGER_FILE =
      "The file /dev/infiniband/rdma_cm cannot be opened. Load the kernel module rdma_ucm (modprobe"
          + " rdma_ucm), allow this user to read and write the file, or pass /dev/infiniband into"
          + " the container";
  private static final String EMPTY_GID =
      "The port's GID table has no GID at this index: Port.gids() lists the GIDs in use";
  private static final String STATE_OR_PATH =
      "The queue pair's state does not allow this step, or an attribute of the path is invalid: on"
          + " RoCE a path needs a GID index of this port";
  private static final String ADDRESS_VECTOR =
      "The address vector is invalid: on RoCE it needs a global route with a GID index of this"
          + " port";
  private static final String CAPACITY =
      "A capacity is larger than the device supports: RdmaDevice.attributes() returns the limits";
  private static final String GIVEN_UP =
      "If the identifier came with a request, its peer has probably given up, because its timeout was"
          + " over before this side had accepted: let it wait longer. If not, a capacity is larger"
          + " than the device supports: RdmaDevice.attributes() returns the limits";

  private Advice() {}

  /** Returns what to do; empty if nothing is known. */
  static String on(String call, int errno) {
    if (errno == 0) {
      return NO_REASON;
    }
    return ErrorNumber.of(errno).map(number -> on(call, number)).orElse("");
  }

  private static String on(String call, ErrorNumber number) {
    return switch (number) {
      case EOPNOTSUPP, ENOSYS -> NOT_SUPPORTED;
      case EPROTONOSUPPORT -> call.startsWith("rdma_") ? "" : NOT_SUPPORTED;
      case EMFILE -> TOO_MANY_FILES;
      case ENFILE -> TOO_MANY_FILES_IN_SYSTEM;
      default -> {
        if (call.startsWith("rdma_create_event_channel")) {
          yield number == ErrorNumber.ENODEV ? NO_DEVICE : CONNECTION_MANAGER_FILE;
        }
        if (call.startsWith("ibv_open_device")) {
          yield onOpening(number);
        }
        yield call.startsWith("rdma_") ? onConnecting(call, number) : onDevice(call, number);
      }
    };
  }

  private static String onOpening(ErrorNumber number) {
    return switch (number) {
      // libibverbs reports ENOENT also if the file exists and may not be opened.
      case ENOENT, EACCES, EPERM -> DEVICE_FILE;
      case ENODEV, ENXIO, EIO -> REMOVED_BEFORE_OPEN;
      default -> "";
    };
  }

  private static String onConnecting(String call, ErrorNumber number) {
    if (call.startsWith("rdma_create_id") || call.startsWith("rdma_getaddrinfo")) {
      return number == ErrorNumber.ENODEV ? NO_DEVICE : "";
    }
    // Resolving a loopback address succeeds. Only resolving the route shows that it has no device.
    boolean takesAddress =
        call.startsWith("rdma_bind_addr")
            || call.startsWith("rdma_resolve_addr")
            || call.startsWith("rdma_resolve_route");
    return switch (number) {
      case ENODEV -> takesAddress ? NO_DEVICE_AT_ADDRESS : REMOVED;
      case EACCES -> takesAddress ? PORT_NEEDS_RIGHTS : "";
      case EADDRINUSE -> takesAddress ? PORT_TAKEN : "";
      case EADDRNOTAVAIL -> takesAddress ? notAvailable(call) : "";
      case ENETUNREACH -> takesAddress ? NO_ROUTE : "";
      case EHOSTUNREACH -> takesAddress ? NO_HOST : "";
      case EIO -> REMOVED;
      case EINVAL ->
          call.startsWith("rdma_create_qp") || call.startsWith("rdma_accept") ? GIVEN_UP : "";
      default -> "";
    };
  }

  // The kernel reports a taken port in this way too, if one of the two addresses is the wildcard
  // or a loopback address.
  private static String notAvailable(String call) {
    return call.startsWith("rdma_bind_addr") ? NOT_A_LOCAL_ADDRESS_OR_TAKEN : NOT_A_LOCAL_ADDRESS;
  }

  private static String onDevice(String call, ErrorNumber number) {
    return switch (number) {
      case ENODEV, EIO -> REMOVED;
      case ENOMEM -> onMemory(call);
      case EFAULT -> isRegistration(call) ? MEMORY_NOT_WRITABLE : "";
      case ENODATA ->
          call.startsWith("ibv_modify_qp") || call.startsWith("ibv_create_ah") ? EMPTY_GID : "";
      case EINVAL -> onInvalid(call);
      default -> "";
    };
  }

  private static String onMemory(String call) {
    if (isRegistration(call)) {
      return MEMLOCK;
    }
    return call.startsWith("ibv_post") || call.startsWith("ibv_bind_mw") ? QUEUE_FULL : "";
  }

  private static boolean isRegistration(String call) {
    return call.startsWith("ibv_reg_mr") || call.startsWith("ibv_rereg_mr");
  }

  private static String onInvalid(String call) {
    if (call.startsWith("ibv_modify_qp")) {
      return STATE_OR_PATH;
    }
    if (call.startsWith("ibv_create_ah")) {
      return ADDRESS_VECTOR;
    }
    boolean hasCapacity =
        call.startsWith("ibv_create_cq")
            || call.startsWith("ibv_create_qp")
            || call.startsWith("ibv_create_srq")
            || call.startsWith("ibv_create_wq");
    return hasCapacity ? CAPACITY : "";
  }
}
