package org.rdma4j.platform;

/** The errno values of Linux that verbs calls give, the same on every architecture of ours. */
public enum ErrorNumber {
  EPERM(1, "operation not permitted"),
  ENOENT(2, "no such file or directory"),
  EINTR(4, "interrupted system call"),
  EIO(5, "input/output error"),
  ENXIO(6, "no such device or address"),
  EBADF(9, "bad file descriptor"),
  EAGAIN(11, "resource temporarily unavailable"),
  ENOMEM(12, "cannot allocate memory"),
  EACCES(13, "permission denied"),
  EFAULT(14, "bad address"),
  EBUSY(16, "device or resource busy"),
  EEXIST(17, "file exists"),
  ENODEV(19, "no such device"),
  EINVAL(22, "invalid argument"),
  EMFILE(24, "too many open files"),
  ENOSPC(28, "no space left on device"),
  ERANGE(34, "result out of range"),
  ENOSYS(38, "function not implemented"),
  ENODATA(61, "no data available"),
  EPROTO(71, "protocol error"),
  EOVERFLOW(75, "value too large"),
  EPROTONOSUPPORT(93, "protocol not supported"),
  EOPNOTSUPP(95, "operation not supported"),
  EADDRINUSE(98, "address already in use"),
  EADDRNOTAVAIL(99, "cannot assign requested address"),
  ENETUNREACH(101, "network is unreachable"),
  ECONNRESET(104, "connection reset by peer"),
  ENOBUFS(105, "no buffer space available"),
  ETIMEDOUT(110, "connection timed out"),
  ECONNREFUSED(111, "connection refused"),
  EHOSTUNREACH(113, "no route to host");

  private final int value;
  private final String meaning;

  ErrorNumber(int value, String meaning) {
    this.value = value;
    this.meaning = meaning;
  }

  /** The number, as C has it. */
  public int value() {
    return value;
  }

  /** The name, or the number where it has none here. */
  public static String name(int errno) {
    for (ErrorNumber number : values()) {
      if (number.value == errno) {
        return number.name();
      }
    }
    return Integer.toString(errno);
  }

  /** Such as {@code ENOMEM (12), cannot allocate memory}. */
  public static String describe(int errno) {
    for (ErrorNumber number : values()) {
      if (number.value == errno) {
        return number.name() + " (" + errno + "), " + number.meaning;
      }
    }
    return "errno " + errno;
  }

  /** What a person can do about that errno from that call; empty where nothing is known. */
  public static String advice(String call, int errno) {
    if (errno == EOPNOTSUPP.value || errno == ENOSYS.value) {
      return "This device's provider does not support the call";
    }
    if (call.startsWith("rdma_create_event_channel")) {
      return adviceOnChannels(errno);
    }
    if ((call.startsWith("rdma_resolve_addr") || call.startsWith("rdma_bind_addr"))
        && (errno == ENODEV.value || errno == EADDRNOTAVAIL.value)) {
      return "No RDMA device has that address, or leads there: 'rdma link' shows the network"
          + " interface of each, 'ip address' their addresses";
    }
    if (errno == ENODEV.value || errno == EIO.value) {
      return "The device is gone, or its driver was unloaded: close it and open it again";
    }
    if (errno == EMFILE.value) {
      return "Raise the limit of open files (ulimit -n), or look for objects that are not closed";
    }
    if (call.startsWith("ibv_reg_mr") && errno == ENOMEM.value) {
      return "Registered memory is locked: raise the memlock limit (ulimit -l, or LimitMEMLOCK= of"
          + " the service), or register less";
    }
    if (call.startsWith("ibv_open_device") && (errno == EACCES.value || errno == EPERM.value)) {
      return "The user may not open /dev/infiniband/uverbs*: add it to the group that owns them";
    }
    if (call.startsWith("ibv_post") && errno == ENOMEM.value) {
      return "The queue is full: poll completions before posting more, or create it deeper";
    }
    if (call.startsWith("ibv_modify_qp") && errno == EINVAL.value) {
      return "The queue pair's state does not allow this step, or an attribute of the path is"
          + " invalid: on RoCE a path needs a GID index of this port";
    }
    if (call.startsWith("ibv_create") && errno == EINVAL.value) {
      return "A capacity is beyond what the device grants";
    }
    return "";
  }

  private static String adviceOnChannels(int errno) {
    if (errno == EACCES.value || errno == EPERM.value) {
      return "The user may not open /dev/infiniband/rdma_cm, or the kernel's module rdma_ucm is too"
          + " old or not loaded";
    }
    return errno == EMFILE.value
        ? "Raise the limit of open files (ulimit -n), or look for channels that are not closed"
        : "The connection manager needs an RDMA device ('rdma link' shows them) and the kernel's"
            + " module rdma_ucm";
  }
}
