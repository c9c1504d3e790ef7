package org.rdma4j.verbs.address;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_ah_attr;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.Range;

/**
 * An address vector, the path that packets take to a port: {@code struct ibv_ah_attr}.
 *
 * @param port the local port that sends the packets, from 1
 * @param lid the local identifier of the destination, 0 to 0xffff; 0 on RoCE
 * @param serviceLevel the service level, 0 to 15
 * @param sourcePathBits the number that is added to the LID of the local port, 0 to 127
 * @param staticRate the limit of the rate
 * @param globalRoute the contents of the global routing header; null if packets do not have one,
 *     which is possible on InfiniBand within a subnet
 * @see org.rdma4j.verbs.ProtectionDomain#createAddressHandle(AddressVector)
 * @see GlobalRoute
 */
public record AddressVector(
    int port,
    int lid,
    int serviceLevel,
    int sourcePathBits,
    StaticRate staticRate,
    @Nullable GlobalRoute globalRoute) {
  /**
   * Creates an address vector from its parts.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public AddressVector {
    Range.check("port", port, 1, 0xff);
    Range.check("lid", lid, 0, 0xffff);
    Range.check("serviceLevel", serviceLevel, 0, 15);
    Range.check("sourcePathBits", sourcePathBits, 0, 0x7f);
  }

  /**
   * Returns the path to a GID. On RoCE this is usually all that is needed.
   *
   * @param destination the GID of the destination
   * @param port the local port, from 1
   * @param gidIndex the index of the local GID, which must have the same type and be in the same
   *     network as the destination
   * @return the vector, with a hop limit of 64 and no limit of the rate; everything else is 0
   * @throws IllegalArgumentException if a number is out of its range
   */
  public static AddressVector to(Gid destination, int port, int gidIndex) {
    return new AddressVector(
        port, 0, 0, 0, StaticRate.UNLIMITED, new GlobalRoute(destination, gidIndex, 0, 64, 0));
  }

  /**
   * Returns the path to a LID, within a subnet of InfiniBand.
   *
   * @param lid the local identifier of the destination
   * @param port the local port, from 1
   * @return the vector, with no limit of the rate; everything else is 0
   * @throws IllegalArgumentException if a number is out of its range
   */
  public static AddressVector to(int lid, int port) {
    return new AddressVector(port, lid, 0, 0, StaticRate.UNLIMITED, null);
  }

  /**
   * Reads {@code struct ibv_ah_attr}.
   *
   * @param vector native memory that holds the struct
   * @return the address vector; null if it is not set
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public static @Nullable AddressVector read(MemorySegment vector) {
    int port = Byte.toUnsignedInt(ibv_ah_attr.port_num(vector));
    if (port == 0) {
      return null;
    }
    return new AddressVector(
        port,
        Short.toUnsignedInt(ibv_ah_attr.dlid(vector)),
        ibv_ah_attr.sl(vector) & 15,
        ibv_ah_attr.src_path_bits(vector) & 0x7f,
        NativeConstants.of(
            StaticRate.class,
            Byte.toUnsignedInt(ibv_ah_attr.static_rate(vector)),
            StaticRate.UNLIMITED),
        ibv_ah_attr.is_global(vector) == 0 ? null : GlobalRoute.read(ibv_ah_attr.grh(vector)));
  }

  /**
   * Writes {@code struct ibv_ah_attr}.
   *
   * @param vector native memory for the struct
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public void write(MemorySegment vector) {
    ibv_ah_attr.dlid(vector, (short) lid);
    ibv_ah_attr.sl(vector, (byte) serviceLevel);
    ibv_ah_attr.src_path_bits(vector, (byte) sourcePathBits);
    ibv_ah_attr.static_rate(vector, (byte) staticRate.value());
    ibv_ah_attr.port_num(vector, (byte) port);
    if (globalRoute != null) {
      ibv_ah_attr.is_global(vector, (byte) 1);
      globalRoute.write(ibv_ah_attr.grh(vector));
    }
  }
}
