package org.rdma4j.bindings;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;

/**
 * Whether the JVM lets this module call C: the permission that {@code --enable-native-access} gives
 * and {@code --illegal-native-access=deny} takes away.
 */
public final class NativeAccess {
  /**
   * The layout of a C pointer whose target has no known size. If native access is denied, it is a
   * plain address instead, so that constants and struct layouts work all the same.
   */
  public static final AddressLayout POINTER = pointer();

  private NativeAccess() {}

  private static AddressLayout pointer() {
    try {
      return ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(Long.MAX_VALUE, JAVA_BYTE));
    } catch (IllegalCallerException denied) {
      return ADDRESS;
    }
  }

  /**
   * Checks that this module may call C. {@link Module#isNativeAccessEnabled} does not show it: it
   * is also false if the JVM would merely warn.
   *
   * @throws IllegalCallerException if the JVM denies it
   */
  public static void check() {
    MemorySegment unused = MemorySegment.NULL.reinterpret(0);
  }
}
