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
      "The port needs the right CAP_NET_BIND_SERVICE: choose one from 1024 on,"
          + " or grant the right ('sysctl net.ipv4.ip_unprivileged_port_start' shows the first port"
          + " that needs none)";
  private static final String MEMORY_NOT_WRITABLE =
      "The memory is not mapped, or may only be read: map a file with READ_WRITE, or register the"
          + " memory without LOCAL_WRITE, REMOTE_WRITE and REMOTE_ATOMIC. Before Linux 6.2, a file"
          + " that is mapped with READ_ONLY cannot be registered at all: map it with PRIVATE, or"
          + " copy it into memory that register(bytes) allocates";
  private static final String MEMLOCK =
      "Registered memory is locked: raise the memlock limit (ulimit -l, or LimitMEMLOCK= of the"
          + " service), or register less. A driver may refuse a large region whatever the limit:"
          + " soft-RoCE of newer kernels takes at most 1 GiB per region, so register several regions";
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
  private static final String CAPACITY_OR_LINK_LAYER =
      "A capacity is larger than the device supports, which RdmaDevice.extendedAttributes() returns,"
          + " or tags are to be matched on a port of Ethernet, where mlx5 cannot";
  private static final String GIVEN_UP =
      "If the identifier came with a request, its peer has probably given up, because its timeout was"
          + " over before this side had accepted: let it wait longer. If not, a capacity is larger"
          + " than the device supports: RdmaDevice.attributes() returns the limits";

  /** What a function does, for the advice. */
  private enum Operation {
    OPEN_DEVICE,
    CHANGE_QUEUE_PAIR,
    CREATE_ADDRESS_HANDLE,
    CREATE_QUEUE,
    CREATE_TYPED_RECEIVE_QUEUE,
    REGISTER,
    POST,
    OTHER_OF_DEVICES,
    OPEN_CONNECTION_MANAGER,
    FIND_DEVICES,
    BIND,
    /**
     * Resolving a loopback address succeeds: only that of the route shows that it has no device.
     */
    RESOLVE,
    ANSWER_REQUEST,
    OTHER_OF_CONNECTIONS;

    static Operation of(String function) {
      return switch (function) {
        case "ibv_open_device" -> OPEN_DEVICE;
        case "ibv_modify_qp" -> CHANGE_QUEUE_PAIR;
        case "ibv_create_ah" -> CREATE_ADDRESS_HANDLE;
        case "ibv_create_cq",
            "ibv_create_cq_ex",
            "ibv_create_qp",
            "ibv_create_srq",
            "ibv_create_wq" ->
            CREATE_QUEUE;
        case "ibv_create_srq_ex" -> CREATE_TYPED_RECEIVE_QUEUE;
        case "ibv_reg_mr", "ibv_reg_mr_ex", "ibv_rereg_mr" -> REGISTER;
        case "ibv_post_send",
            "ibv_wr_complete",
            "ibv_post_recv",
            "ibv_post_srq_recv",
            "ibv_post_srq_ops",
            "ibv_post_wq_recv",
            "ibv_bind_mw" ->
            POST;
        case "rdma_create_event_channel" -> OPEN_CONNECTION_MANAGER;
        case "rdma_create_id", "rdma_getaddrinfo" -> FIND_DEVICES;
        case "rdma_bind_addr" -> BIND;
        case "rdma_resolve_addr", "rdma_resolve_addrinfo", "rdma_resolve_route" -> RESOLVE;
        case "rdma_create_qp", "rdma_create_qp_ex", "rdma_accept" -> ANSWER_REQUEST;
        default -> function.startsWith("rdma_") ? OTHER_OF_CONNECTIONS : OTHER_OF_DEVICES;
      };
    }

    /** Returns whether the function is one of librdmacm. */
    boolean isOfConnections() {
      return switch (this) {
        case OPEN_CONNECTION_MANAGER,
            FIND_DEVICES,
            BIND,
            RESOLVE,
            ANSWER_REQUEST,
            OTHER_OF_CONNECTIONS ->
            true;
        default -> false;
      };
    }
  }

  private Advice() {}

  /** Returns what to do; empty if nothing is known. */
  static String on(String function, int errno) {
    if (errno == 0) {
      return NO_REASON;
    }
    Operation operation = Operation.of(function);
    return ErrorNumber.of(errno).map(number -> on(operation, number)).orElse("");
  }

  private static String on(Operation operation, ErrorNumber number) {
    return switch (number) {
      case EOPNOTSUPP, ENOSYS -> NOT_SUPPORTED;
      case EPROTONOSUPPORT -> operation.isOfConnections() ? "" : NOT_SUPPORTED;
      case EMFILE -> TOO_MANY_FILES;
      case ENFILE -> TOO_MANY_FILES_IN_SYSTEM;
      default ->
          switch (operation) {
            case OPEN_DEVICE -> onOpening(number);
            case OPEN_CONNECTION_MANAGER ->
                number == ErrorNumber.ENODEV ? NO_DEVICE : CONNECTION_MANAGER_FILE;
            case FIND_DEVICES -> number == ErrorNumber.ENODEV ? NO_DEVICE : "";
            case BIND, RESOLVE -> onAddress(operation, number);
            case ANSWER_REQUEST -> number == ErrorNumber.EINVAL ? GIVEN_UP : onRemoval(number);
            case OTHER_OF_CONNECTIONS, OTHER_OF_DEVICES -> onRemoval(number);
            case CHANGE_QUEUE_PAIR -> onPath(number, STATE_OR_PATH);
            case CREATE_ADDRESS_HANDLE -> onPath(number, ADDRESS_VECTOR);
            case CREATE_QUEUE -> number == ErrorNumber.EINVAL ? CAPACITY : onRemoval(number);
            case CREATE_TYPED_RECEIVE_QUEUE ->
                number == ErrorNumber.EINVAL ? CAPACITY_OR_LINK_LAYER : onRemoval(number);
            case REGISTER -> onMemory(number);
            case POST -> number == ErrorNumber.ENOMEM ? QUEUE_FULL : onRemoval(number);
          };
    };
  }

  private static String onRemoval(ErrorNumber number) {
    return number == ErrorNumber.ENODEV || number == ErrorNumber.EIO ? REMOVED : "";
  }

  private static String onOpening(ErrorNumber number) {
    return switch (number) {
      // libibverbs reports ENOENT also if the file exists and may not be opened.
      case ENOENT, EACCES, EPERM -> DEVICE_FILE;
      case ENODEV, ENXIO, EIO -> REMOVED_BEFORE_OPEN;
      default -> "";
    };
  }

  private static String onAddress(Operation operation, ErrorNumber number) {
    return switch (number) {
      case ENODEV -> NO_DEVICE_AT_ADDRESS;
      case EACCES -> PORT_NEEDS_RIGHTS;
      case EADDRINUSE -> PORT_TAKEN;
      // The kernel reports a taken port in this way too, if one of the two addresses is the
      // wildcard or a loopback address.
      case EADDRNOTAVAIL ->
          operation == Operation.BIND ? NOT_A_LOCAL_ADDRESS_OR_TAKEN : NOT_A_LOCAL_ADDRESS;
      case ENETUNREACH -> NO_ROUTE;
      case EHOSTUNREACH -> NO_HOST;
      default -> onRemoval(number);
    };
  }

  private static String onPath(ErrorNumber number, String invalid) {
    return switch (number) {
      case ENODATA -> EMPTY_GID;
      case EINVAL -> invalid;
      default -> onRemoval(number);
    };
  }

  private static String onMemory(ErrorNumber number) {
    return switch (number) {
      case ENOMEM -> MEMLOCK;
      case EFAULT -> MEMORY_NOT_WRITABLE;
      default -> onRemoval(number);
    };
  }
}
