package org.rdma4j.verbs.attribute;

import java.util.HexFormat;

/**
 * A globally unique identifier (GUID) of a node or a system image.
 *
 * @param value the eight bytes as a big-endian number; in C they are in network byte order
 */
public record Guid(long value) {
  /**
   * Returns the identifier as ibv_devinfo prints it.
   *
   * @return the identifier, such as {@code 0002:c903:0000:1d8c}
   */
  @Override
  public String toString() {
    String hex = HexFormat.of().toHexDigits(value);
    return String.join(
        ":", hex.substring(0, 4), hex.substring(4, 8), hex.substring(8, 12), hex.substring(12));
  }
}
