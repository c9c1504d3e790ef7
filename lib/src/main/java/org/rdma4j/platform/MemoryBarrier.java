package org.rdma4j.platform;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.rdma4j.bindings.inlines.Errno;

/**
 * A memory barrier in every thread of this process, paid for by the one thread that asks: the slow
 * half of a Dekker handshake whose fast half is a plain store and a plain load.
 */
public final class MemoryBarrier {
  private static final int CMD_PRIVATE_EXPEDITED = 1 << 3;
  private static final int CMD_REGISTER_PRIVATE_EXPEDITED = 1 << 4;

  private static final class Membarrier {
    static final long NUMBER =
        System.getProperty("os.arch").toLowerCase(Locale.ROOT).equals("aarch64") ? 283 : 324;
    static final MethodHandle SYSCALL =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().find("syscall").orElseThrow(),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT),
                Linker.Option.firstVariadicArg(1));
    static final boolean REGISTERED = membarrier(CMD_REGISTER_PRIVATE_EXPEDITED);

    static boolean membarrier(int command) {
      try {
        return (long) SYSCALL.invokeExact(NUMBER, command, 0, 0) == 0;
      } catch (Throwable thrown) {
        throw Errno.unexpected(thrown);
      }
    }
  }

  private MemoryBarrier() {}

  /** What other threads stored before is visible after it, and what this one stored to them. */
  public static void everyThread() {
    if (!Membarrier.REGISTERED || !Membarrier.membarrier(CMD_PRIVATE_EXPEDITED)) {
      handshake();
    }
  }

  /** The same where the kernel has no membarrier: closing a shared arena stops at every thread. */
  static void handshake() {
    Arena.ofShared().close();
  }
}
