package org.rdma4j.datapath;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Reads and writes memory by address, for the data path. It uses one constant segment over the
 * whole address space, whose scope need not be checked, nor its bounds if the address comes from
 * {@link #base}. Use it only for memory that the library has allocated, at offsets that it has
 * computed.
 */
public final class RawMemory {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final VarHandle BYTE = JAVA_BYTE.varHandle();
  private static final VarHandle UNALIGNED_SHORT = JAVA_SHORT_UNALIGNED.varHandle();
  private static final VarHandle UNALIGNED_INT = JAVA_INT_UNALIGNED.varHandle();
  private static final VarHandle UNALIGNED_LONG = JAVA_LONG_UNALIGNED.varHandle();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private RawMemory() {}

  /**
   * Returns the same address. From the result the compiler knows that it is not negative, and omits
   * the bounds check of each access at an offset from it.
   */
  public static long base(long address) {
    return address & (Long.MAX_VALUE >>> 1);
  }

  public static void putByte(long address, byte value) {
    BYTE.set(ALL, address, value);
  }

  public static void putShort(long address, short value) {
    UNALIGNED_SHORT.set(ALL, address, value);
  }

  public static void putInt(long address, int value) {
    UNALIGNED_INT.set(ALL, address, value);
  }

  public static void putLong(long address, long value) {
    UNALIGNED_LONG.set(ALL, address, value);
  }

  public static byte getByte(long address) {
    return (byte) BYTE.get(ALL, address);
  }

  public static short getShort(long address) {
    return (short) UNALIGNED_SHORT.get(ALL, address);
  }

  public static int getInt(long address) {
    return (int) UNALIGNED_INT.get(ALL, address);
  }

  public static long getLong(long address) {
    return (long) UNALIGNED_LONG.get(ALL, address);
  }

  /** Reads a byte before everything that the program reads after it. */
  public static byte getByteAcquire(long address) {
    return (byte) BYTE.getAcquire(ALL, address);
  }

  /** Writes a number after everything that the program reads or writes before it. */
  public static void putIntRelease(long address, int value) {
    INT.setRelease(ALL, address, value);
  }

  /** Writes a number after everything that the program reads or writes before it. */
  public static void putLongRelease(long address, long value) {
    LONG.setRelease(ALL, address, value);
  }

  /**
   * Writes a number in one step with a read, which on x86 is an instruction that also is a full
   * fence, for memory of every type: XCHG.
   */
  public static void exchangeInt(long address, int value) {
    int unused = (int) INT.getAndSet(ALL, address, value);
  }

  /**
   * Copies bytes. For the few of an inline request this takes less time than a copy of segments,
   * which calls a function of the JVM.
   */
  public static void copy(long from, long to, int length) {
    int done = 0;
    for (; done <= length - Long.BYTES; done += Long.BYTES) {
      putLong(to + done, getLong(from + done));
    }
    for (; done < length; done++) {
      putByte(to + done, getByte(from + done));
    }
  }
}
