package org.rdma4j;

/**
 * The errno values of Linux that verbs calls report. They are the same on x86-64 and on AArch64.
 */
public enum ErrorNumber {
  /** Operation not permitted. */
  EPERM(1, "operation not permitted"),
  /** No such file or directory. */
  ENOENT(2, "no such file or directory"),
  /** Interrupted system call. */
  EINTR(4, "interrupted system call"),
  /** Input/output error. */
  EIO(5, "input/output error"),
  /** No such device or address. */
  ENXIO(6, "no such device or address"),
  /** Bad file descriptor. */
  EBADF(9, "bad file descriptor"),
  /** Resource temporarily unavailable. */
  EAGAIN(11, "resource temporarily unavailable"),
  /** Cannot allocate memory. */
  ENOMEM(12, "cannot allocate memory"),
  /** Permission denied. */
  EACCES(13, "permission denied"),
  /** Bad address. */
  EFAULT(14, "bad address"),
  /** Device or resource busy. */
  EBUSY(16, "device or resource busy"),
  /** File exists. */
  EEXIST(17, "file exists"),
  /** No such device. */
  ENODEV(19, "no such device"),
  /** Invalid argument. */
  EINVAL(22, "invalid argument"),
  /** Too many open files. */
  EMFILE(24, "too many open files"),
  /** No space left on device. */
  ENOSPC(28, "no space left on device"),
  /** Result out of range. */
  ERANGE(34, "result out of range"),
  /** Function not implemented. */
  ENOSYS(38, "function not implemented"),
  /** No data available. */
  ENODATA(61, "no data available"),
  /** Protocol error. */
  EPROTO(71, "protocol error"),
  /** Value too large. */
  EOVERFLOW(75, "value too large"),
  /** Protocol not supported. */
  EPROTONOSUPPORT(93, "protocol not supported"),
  /** Operation not supported. */
  EOPNOTSUPP(95, "operation not supported"),
  /** Address already in use. */
  EADDRINUSE(98, "address already in use"),
  /** Cannot assign requested address. */
  EADDRNOTAVAIL(99, "cannot assign requested address"),
  /** Network is unreachable. */
  ENETUNREACH(101, "network is unreachable"),
  /** Connection reset by peer. */
  ECONNRESET(104, "connection reset by peer"),
  /** No buffer space available. */
  ENOBUFS(105, "no buffer space available"),
  /** Connection timed out. */
  ETIMEDOUT(110, "connection timed out"),
  /** Connection refused. */
  ECONNREFUSED(111, "connection refused"),
  /** No route to host. */
  EHOSTUNREACH(113, "no route to host");

  private final int value;
  private final String meaning;

  ErrorNumber(int value, String meaning) {
    this.value = value;
    this.meaning = meaning;
  }

  /**
   * Returns the number in C.
   *
   * @return the value of {@code errno}
   */
  public int value() {
    return value;
  }

  /**
   * Returns the name of an errno value.
   *
   * @param errno the value
   * @return the name, such as {@code ENOMEM}; the number if this enum does not have it
   */
  static String name(int errno) {
    for (ErrorNumber number : values()) {
      if (number.value == errno) {
        return number.name();
      }
    }
    return Integer.toString(errno);
  }

  /** Describes an errno value, such as {@code ENOMEM (12), cannot allocate memory}. */
  static String describe(int errno) {
    for (ErrorNumber number : values()) {
      if (number.value == errno) {
        return number.name() + " (" + errno + "), " + number.meaning;
      }
    }
    return "errno " + errno;
  }

  /** Says what a person can do about an errno value from a call; empty if nothing is known. */
  static String advice(String call, int errno) {
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
