package org.rdma4j.platform;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Errno;

/**
 * The few functions of libc that this module calls. A method whose function fails throws {@link
 * RdmaException} with its errno.
 *
 * <p>Memory and the page size can be asked for before anything else, so these methods check that
 * the JVM allows calls into C. All others require {@link NativeLibraries#require()} to have
 * succeeded before.
 */
public final class Libc {
  static final short POLLIN = 1;

  private static final int PROT_READ_WRITE = 1 | 2;
  private static final int PROT_READ_EXEC = 1 | 4;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
  private static final int MAP_FIXED = 0x10;
  private static final int MAP_NORESERVE = 0x4000;
  private static final int MAP_HUGETLB = 0x40000;
  private static final int MAP_HUGE_SHIFT = 26;
  private static final int MADV_DONTNEED = 4;
  private static final int SC_PAGESIZE = 30;
  private static final int F_DUPFD_CLOEXEC = 1030;
  private static final int F_GETFD = 1;
  private static final int SC_OPEN_MAX = 4;

  /** The kernel keeps a table of this many pointers. */
  private static final int MAX_HIGH = 1 << 15;

  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int O_CLOEXEC = 0x80000;

  /** Creates the file if it does not exist. */
  public static final int O_CREAT = 0x40;

  private static final class Mmap {
    static final MethodHandle CALL =
        link("mmap", ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  }

  private static final class Mprotect {
    static final MethodHandle CALL = link("mprotect", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
  }

  private static final class Munmap {
    static final MethodHandle CALL = link("munmap", JAVA_INT, ADDRESS, JAVA_LONG);
  }

  private static final class Madvise {
    static final MethodHandle CALL = link("madvise", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
  }

  private static final class Malloc {
    static final MethodHandle CALL = link("malloc", ADDRESS, JAVA_LONG);
  }

  private static final class Sysconf {
    static final MethodHandle CALL = link("sysconf", JAVA_LONG, JAVA_INT);
  }

  private static final class Poll {
    static final MethodHandle CALL = link("poll", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);

    /** A {@code struct pollfd}. */
    static final ThreadMemory DESCRIPTOR = new ThreadMemory(8, 4);
  }

  private static final class Close {
    static final MethodHandle CALL = link("close", JAVA_INT, JAVA_INT);
  }

  private static final class Setenv {
    static final MethodHandle CALL = link("setenv", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
  }

  private static final class Open {
    static final MethodHandle CALL = link("open", JAVA_INT, ADDRESS, JAVA_INT);
  }

  private static final class Dladdr {
    static final MethodHandle CALL = link("dladdr", JAVA_INT, JAVA_LONG, ADDRESS);
  }

  private static final class Fcntl {
    static final MethodHandle CALL =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().find("fcntl").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
                Linker.Option.firstVariadicArg(2),
                Linker.Option.captureCallState("errno"));
  }

  private static final class Pages {
    static final long SIZE = sysconf(SC_PAGESIZE);
  }

  private Libc() {}

  private static MethodHandle link(String name, ValueLayout result, MemoryLayout... arguments) {
    return Errno.downcall(FunctionDescriptor.of(result, arguments))
        .bindTo(Linker.nativeLinker().defaultLookup().find(name).orElseThrow());
  }

  /** Returns the size of a page in bytes. */
  public static long pageSize() {
    NativeLibraries.requireNativeAccess();
    return Pages.SIZE;
  }

  /** Maps zeroed, private, anonymous memory of the given length. */
  public static MemorySegment mmap(long bytes) {
    return mmap("mmap(" + bytes + " bytes)", "", MemorySegment.NULL, bytes, 0);
  }

  /**
   * Maps zeroed, private, anonymous memory of huge pages, which the system reserves immediately.
   *
   * @param advice what to do if the system cannot reserve them
   */
  public static MemorySegment mmapHuge(long bytes, long pageSize, String advice) {
    int size = Long.numberOfTrailingZeros(pageSize) << MAP_HUGE_SHIFT;
    String call = "mmap(" + bytes + " bytes, MAP_HUGETLB)";
    return mmap(call, advice, MemorySegment.NULL, bytes, MAP_HUGETLB | size);
  }

  /**
   * Maps a page that contains machine code, and that cannot be written afterwards: {@code mmap},
   * {@code mprotect}. It stays mapped.
   *
   * @throws RdmaException if the system allows no page to be executable: EACCES, EPERM
   */
  public static MemorySegment mmapCode(byte[] code) {
    long bytes = pageSize();
    MemorySegment page = mmap(bytes).reinterpret(bytes);
    MemorySegment.copy(code, 0, page, JAVA_BYTE, 0, code.length);
    try {
      check(
          "mprotect(PROT_EXEC)",
          (int) Mprotect.CALL.invokeExact(Errno.state(), page, bytes, PROT_READ_EXEC));
    } catch (RdmaException notAllowed) {
      munmap(page, bytes);
      throw notAllowed;
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    return page;
  }

  /** Returns the pages to the system by mapping small pages, all zero, in their place. */
  public static void replacePages(MemorySegment mapped, long bytes) {
    mmap("mmap(MAP_FIXED)", "", mapped, bytes, MAP_FIXED | MAP_NORESERVE);
  }

  private static MemorySegment mmap(
      String call, String advice, MemorySegment where, long bytes, int flags) {
    NativeLibraries.requireNativeAccess();
    MemorySegment mapped;
    try {
      mapped =
          (MemorySegment)
              Mmap.CALL.invokeExact(
                  Errno.state(),
                  where,
                  bytes,
                  PROT_READ_WRITE,
                  MAP_PRIVATE_ANONYMOUS | flags,
                  -1,
                  0L);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    if (mapped.address() == -1) {
      throw new RdmaException(call, Errno.errno(), advice);
    }
    return mapped;
  }

  /** Allocates memory that a C function will free: {@code malloc}. */
  public static MemorySegment malloc(long bytes) {
    MemorySegment allocated;
    try {
      allocated = (MemorySegment) Malloc.CALL.invokeExact(Errno.state(), bytes);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    if (allocated.address() == 0) {
      throw new RdmaException("malloc", Errno.errno());
    }
    return allocated.reinterpret(bytes);
  }

  /** Unmaps memory that {@link #mmap} mapped. */
  public static void munmap(MemorySegment mapped, long bytes) {
    try {
      check("munmap", (int) Munmap.CALL.invokeExact(Errno.state(), mapped, bytes));
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** Returns the pages to the system. The addresses stay mapped, and read as zero from now on. */
  public static void releasePages(MemorySegment mapped, long bytes) {
    try {
      check("madvise", (int) Madvise.CALL.invokeExact(Errno.state(), mapped, bytes, MADV_DONTNEED));
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** Sets an environment variable, unless it has a value already. */
  public static void setEnvironment(String name, String value) {
    try (Arena arena = Arena.ofConfined()) {
      int overwrite = 0;
      check(
          "setenv",
          (int)
              Setenv.CALL.invokeExact(
                  Errno.state(), arena.allocateFrom(name), arena.allocateFrom(value), overwrite));
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** Makes reads of the descriptor fail with EAGAIN instead of blocking. */
  public static void setNonBlocking(int fd) {
    try {
      int flags = check("fcntl", (int) Fcntl.CALL.invokeExact(Errno.state(), fd, F_GETFL, 0));
      check("fcntl", (int) Fcntl.CALL.invokeExact(Errno.state(), fd, F_SETFL, flags | O_NONBLOCK));
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /**
   * Returns another descriptor of the same open file, which child processes do not inherit. Its
   * number is so high that no other file gets it when it is closed, unless half of all descriptors
   * that a process may have are in use: the kernel gives each file the lowest number.
   */
  public static int duplicateHigh(int fd) {
    int lowest = (int) Math.min(sysconf(SC_OPEN_MAX) / 2, MAX_HIGH);
    try {
      return check(
          "fcntl", (int) Fcntl.CALL.invokeExact(Errno.state(), fd, F_DUPFD_CLOEXEC, lowest));
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** Returns whether a descriptor is open. */
  public static boolean isOpen(int fd) {
    try {
      return (int) Fcntl.CALL.invokeExact(Errno.state(), fd, F_GETFD, 0) >= 0;
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /**
   * Opens a file for reading. Child processes do not inherit the descriptor, and if the file is a
   * named pipe, the method does not wait for its other end.
   */
  public static int open(Path file) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(file.toString());
      try {
        return check(
            "open(" + file + ")",
            (int) Open.CALL.invokeExact(Errno.state(), path, O_CLOEXEC | O_NONBLOCK));
      } catch (Throwable thrown) {
        throw Errno.unexpected(thrown);
      }
    }
  }

  /** Closes a descriptor. */
  public static void close(int fd) {
    try {
      check("close", (int) Close.CALL.invokeExact(Errno.state(), fd));
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /**
   * The shared object and the symbol that an address belongs to: {@code Dl_info}.
   *
   * @param object the path of the shared object, or an empty string if the address is in none
   * @param objectBase the address at which the shared object is mapped, or 0 if the address is in
   *     none
   * @param symbol the address of the exported symbol, or 0 if the address belongs to none
   */
  public record SymbolInfo(String object, long objectBase, long symbol) {}

  /** Finds the shared object and the exported symbol that an address belongs to. */
  public static SymbolInfo dladdr(long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(4 * ADDRESS.byteSize(), 8);
      int found;
      try {
        found = (int) Dladdr.CALL.invokeExact(Errno.state(), address, info);
      } catch (Throwable thrown) {
        throw Errno.unexpected(thrown);
      }
      return found == 0
          ? new SymbolInfo("", 0, 0)
          : new SymbolInfo(
              info.getAtIndex(ADDRESS, 0).reinterpret(Long.MAX_VALUE).getString(0),
              info.getAtIndex(JAVA_LONG, 1),
              info.getAtIndex(JAVA_LONG, 3));
    }
  }

  /**
   * Blocks the thread until the descriptor can be read, or the time is over.
   *
   * @return whether it can be read; also false if a signal ended the wait
   */
  static boolean poll(int fd, int milliseconds) {
    MemorySegment descriptor = Poll.DESCRIPTOR.get();
    descriptor.set(JAVA_INT, 0, fd);
    descriptor.set(ValueLayout.JAVA_SHORT, 4, POLLIN);
    int ready;
    try {
      ready = (int) Poll.CALL.invokeExact(Errno.state(), descriptor, 1L, milliseconds);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    if (ready < 0 && Errno.errno() != ErrorNumber.EINTR.value()) {
      throw new RdmaException("poll", Errno.errno());
    }
    return ready > 0;
  }

  private static long sysconf(int name) {
    try {
      return (long) Sysconf.CALL.invokeExact(Errno.state(), name);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  static int check(String call, int result) {
    if (result < 0) {
      throw new RdmaException(call, Errno.errno());
    }
    return result;
  }
}
