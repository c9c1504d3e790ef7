package org.rdma4j.platform;

import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.NativeConstant;

/** Converts between enum constants and the numbers and bit masks of C. */
public final class NativeConstants {
  private NativeConstants() {}

  /**
   * Returns the constant with the given value, or the fallback if a newer library has more values.
   */
  public static <E extends Enum<E> & NativeConstant> E of(Class<E> type, int value, E fallback) {
    for (E constant : type.getEnumConstants()) {
      if (constant.value() == value) {
        return constant;
      }
    }
    return fallback;
  }

  /** Returns the flags that are set in the mask, as an unmodifiable set. */
  public static <E extends Enum<E> & NativeConstant> Set<E> flags(Class<E> type, int mask) {
    EnumSet<E> set = EnumSet.noneOf(type);
    for (E constant : type.getEnumConstants()) {
      if ((mask & constant.value()) != 0) {
        set.add(constant);
      }
    }
    return Collections.unmodifiableSet(set);
  }

  /** Returns the mask in which the given flags are set. */
  public static int mask(Collection<? extends NativeConstant> flags) {
    int mask = 0;
    for (NativeConstant flag : flags) {
      mask |= flag.value();
    }
    return mask;
  }
}
