package org.rdma4j.verbs;

import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** An enum constant that has a value in verbs.h. */
interface NativeConstant {
  /**
   * The value in verbs.h.
   *
   * @return the value of the C constant that the documentation of this one names
   */
  int value();

  /**
   * The constant of that value, or the fallback where a newer library knows more than this enum.
   */
  static <E extends Enum<E> & NativeConstant> E of(Class<E> type, int value, E fallback) {
    for (E constant : type.getEnumConstants()) {
      if (constant.value() == value) {
        return constant;
      }
    }
    return fallback;
  }

  /** The flags that are set in the mask; the set cannot be changed. */
  static <E extends Enum<E> & NativeConstant> Set<E> flags(Class<E> type, int mask) {
    EnumSet<E> set = EnumSet.noneOf(type);
    for (E constant : type.getEnumConstants()) {
      if ((mask & constant.value()) != 0) {
        set.add(constant);
      }
    }
    return Collections.unmodifiableSet(set);
  }

  /** The mask that has those flags set. */
  static int mask(Collection<? extends NativeConstant> flags) {
    int mask = 0;
    for (NativeConstant flag : flags) {
      mask |= flag.value();
    }
    return mask;
  }
}
