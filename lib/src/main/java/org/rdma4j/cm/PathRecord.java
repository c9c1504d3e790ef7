package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.bindings.generated.ibv_path_data;
import org.rdma4j.bindings.generated.ibv_path_record;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.Gid;

/**
 * A path through an InfiniBand fabric: {@code struct ibv_path_data}. RoCE does not use paths.
 *
 * @param flags what the path is for: {@code IBV_PATH_FLAG_*}
 * @param serviceId the service
 * @param destination the GID of the destination
 * @param source the GID of the source
 * @param destinationLid the local identifier of the destination, 0 to 0xffff
 * @param sourceLid the local identifier of the source, 0 to 0xffff
 * @param flowLabel the flow label, 0 to 0xfffff
 * @param hopLimit the maximum number of routers that a packet passes, 0 to 255
 * @param trafficClass the traffic class, 0 to 255
 * @param reversible whether the path back is the same
 * @param partitionKey the partition key, 0 to 0xffff
 * @param serviceLevel the service level, 0 to 15
 * @param mtu the maximum payload of a packet, as a value of {@code enum ibv_mtu}, 0 to 63
 * @param rate the maximum rate, as a value of {@code enum ibv_rate}, 0 to 63
 * @param packetLifetime how long a packet travels at most: n for 4.096 microseconds x 2^n, 0 to 63
 * @see CmIdAddresses
 */
public record PathRecord(
    int flags,
    long serviceId,
    Gid destination,
    Gid source,
    int destinationLid,
    int sourceLid,
    int flowLabel,
    int hopLimit,
    int trafficClass,
    boolean reversible,
    int partitionKey,
    int serviceLevel,
    int mtu,
    int rate,
    int packetLifetime) {
  /**
   * The flags of a path for both directions, which the messages of the connection manager use too:
   * {@code IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL}. The kernel
   * takes a path only if it has exactly these flags.
   */
  public static final int BIDIRECTIONAL_PRIMARY_AND_GMP =
      rdma_h.IBV_PATH_FLAG_GMP()
          | rdma_h.IBV_PATH_FLAG_PRIMARY()
          | rdma_h.IBV_PATH_FLAG_OUTBOUND()
          | rdma_h.IBV_PATH_FLAG_INBOUND_REVERSE();

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int EXACTLY = 2 << 6;
  private static final int WITHOUT_SELECTOR = 0x3f;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public PathRecord {
    Range.check("destinationLid", destinationLid, 0, 0xffff);
    Range.check("sourceLid", sourceLid, 0, 0xffff);
    Range.check("flowLabel", flowLabel, 0, 0xf_ffff);
    Range.check("hopLimit", hopLimit, 0, 0xff);
    Range.check("trafficClass", trafficClass, 0, 0xff);
    Range.check("partitionKey", partitionKey, 0, 0xffff);
    Range.check("serviceLevel", serviceLevel, 0, 15);
    Range.check("mtu", mtu, 0, WITHOUT_SELECTOR);
    Range.check("rate", rate, 0, WITHOUT_SELECTOR);
    Range.check("packetLifetime", packetLifetime, 0, WITHOUT_SELECTOR);
  }

  static PathRecord read(MemorySegment data) {
    MemorySegment path = ibv_path_data.path(data);
    int flowAndHops = path.get(INT, ibv_path_record.flowlabel_hoplimit$offset());
    return new PathRecord(
        ibv_path_data.flags(data),
        path.get(LONG, ibv_path_record.service_id$offset()),
        Gid.read(ibv_path_record.dgid(path)),
        Gid.read(ibv_path_record.sgid(path)),
        Short.toUnsignedInt(path.get(SHORT, ibv_path_record.dlid$offset())),
        Short.toUnsignedInt(path.get(SHORT, ibv_path_record.slid$offset())),
        flowAndHops >>> 8 & 0xf_ffff,
        flowAndHops & 0xff,
        Byte.toUnsignedInt(ibv_path_record.tclass(path)),
        ibv_path_record.reversible_numpath(path) < 0,
        Short.toUnsignedInt(path.get(SHORT, ibv_path_record.pkey$offset())),
        path.get(SHORT, ibv_path_record.qosclass_sl$offset()) & 15,
        ibv_path_record.mtu(path) & WITHOUT_SELECTOR,
        ibv_path_record.rate(path) & WITHOUT_SELECTOR,
        ibv_path_record.packetlifetime(path) & WITHOUT_SELECTOR);
  }

  void write(MemorySegment data) {
    ibv_path_data.flags(data, flags);
    MemorySegment path = ibv_path_data.path(data);
    path.set(LONG, ibv_path_record.service_id$offset(), serviceId);
    destination.write(ibv_path_record.dgid(path));
    source.write(ibv_path_record.sgid(path));
    path.set(SHORT, ibv_path_record.dlid$offset(), (short) destinationLid);
    path.set(SHORT, ibv_path_record.slid$offset(), (short) sourceLid);
    path.set(INT, ibv_path_record.flowlabel_hoplimit$offset(), flowLabel << 8 | hopLimit);
    ibv_path_record.tclass(path, (byte) trafficClass);
    ibv_path_record.reversible_numpath(path, (byte) (reversible ? 0x81 : 1));
    path.set(SHORT, ibv_path_record.pkey$offset(), (short) partitionKey);
    path.set(SHORT, ibv_path_record.qosclass_sl$offset(), (short) serviceLevel);
    ibv_path_record.mtu(path, (byte) (EXACTLY | mtu));
    ibv_path_record.rate(path, (byte) (EXACTLY | rate));
    ibv_path_record.packetlifetime(path, (byte) (EXACTLY | packetLifetime));
  }
}
