package org.rdma4j;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * The errno values of Linux that RDMA calls report. They are the same on x86-64 and on AArch64.
 *
 * @see RdmaException#errno()
 */
public enum ErrorNumber implements NativeConstant {
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
  /** Too many open files in the system. */
  ENFILE(23, "too many open files in the system"),
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

  @Override
  public int value() {
    return value;
  }

  /** Returns the constant for an errno value; empty if this enum does not contain it. */
  static Optional<ErrorNumber> of(int errno) {
    return Stream.of(values()).filter(number -> number.value == errno).findFirst();
  }

  /** Returns a description, such as {@code ENOMEM (12), cannot allocate memory}. */
  static String describe(int errno) {
    return of(errno)
        .map(number -> number.name() + " (" + errno + "), " + number.meaning)
        .orElse("errno " + errno);
  }
}
