package org.rdma4j.testing.headers;

import static java.util.stream.Collectors.toUnmodifiableSet;

import java.util.Set;
import java.util.stream.Stream;

/**
 * The differences between the headers of two versions of rdma-core that its ABI allows, so that a
 * program works with a library that is older or newer than the headers.
 *
 * <ul>
 *   <li>New versions declare more. Older headers lack what the files {@code newer-than-44.txt} in
 *       {@code jextract} list, and the new members of old structs.
 *   <li>A struct may have new members at its end if nobody depends on its size: the library
 *       allocates it, or the program passes its size, or a mask tells which members it has set.
 *   <li>{@code verbs_context} has new members at its front, so only the distances to its last
 *       member are the same ({@link Facts}).
 * </ul>
 */
public final class AbiGrowth {
  /** The struct that grows at its front. */
  static final String AT_THE_FRONT = "struct verbs_context";

  /** It has a mask, but its specifications follow it in memory. */
  private static final String FIXED = "struct ibv_flow_attr";

  private final Set<String> newer;
  private final Set<String> growing;

  /**
   * Names the growth of a header.
   *
   * @param file the file of the constants and types that rdma-core 44 does not have
   * @param members those that it does not have, of structs that it has
   * @param growing the structs without a mask that may have new members at their end
   */
  public AbiGrowth(String file, Set<String> members, Set<String> growing) {
    this.newer =
        Stream.concat(
                members.stream(),
                Filter.symbols(file).stream()
                    .map(symbol -> symbol.isType() ? symbol.spelling() : symbol.name()))
            .collect(toUnmodifiableSet());
    this.growing = growing;
  }

  /** Returns the constants and types that rdma-core 44 does not have, and the members. */
  public Set<String> newerThan44() {
    return newer;
  }

  /** Returns whether rdma-core 44 lacks a constant, a type, or a member of a type. */
  public boolean isNewer(String symbol) {
    return newer.contains(symbol)
        || (symbol.contains(".") && isNewer(symbol.substring(0, symbol.lastIndexOf('.'))));
  }

  /** Returns whether the struct may have new members at its end. */
  boolean mayGrow(String type, boolean hasMask) {
    return (hasMask && !type.equals(FIXED)) || growing.contains(type);
  }
}
