package org.rdma4j.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.rdma4j.bindings.generated.rdma_conn_param;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.Range;

/**
 * What one side of a connection tells the other: {@code struct rdma_conn_param}. Immutable; each
 * method that takes a value returns a changed copy.
 *
 * <p>Of one that came with an event, the private data is as long as such a message can carry, what
 * the peer gave being followed by zeros; and the numbers are those of the peer's request or answer:
 * responderResources is what the peer would have outstanding here, initiatorDepth what it answers.
 *
 * @param privateData what the peer is told, from the position to the limit
 * @param responderResources the most reads and atomics of the peer that are answered at once, 0 to
 *     254, or {@link #DEVICE_MAXIMUM}
 * @param initiatorDepth the most reads and atomics that are outstanding at the peer, 0 to 254, or
 *     {@link #DEVICE_MAXIMUM}
 * @param flowControl whether the hardware is to control the flow of messages, where it can
 * @param retryCount how often to send again when no acknowledgement came, 0 to 7; of no meaning in
 *     an acceptance
 * @param rnrRetryCount how often to send again when the peer had no receive posted, 0 to 7, of
 *     which 7 is for ever; in an acceptance, how often the peer is to
 * @param sharedReceiveQueue whether a queue pair of one's own has a shared receive queue
 * @param queuePairNumber the number of a queue pair of one's own, 0 to 0xffffff
 */
public record ConnectionParameters(
    ByteBuffer privateData,
    int responderResources,
    int initiatorDepth,
    boolean flowControl,
    int retryCount,
    int rnrRetryCount,
    boolean sharedReceiveQueue,
    int queuePairNumber) {
  /** As many reads and atomics as the device offers: {@code RDMA_MAX_RESP_RES}. */
  public static final int DEVICE_MAXIMUM = rdma_h.RDMA_MAX_RESP_RES();

  /**
   * No private data, as many reads and atomics as the device offers, no flow control, and 7 for
   * both numbers of retries: what C takes where it is given NULL.
   */
  public static final ConnectionParameters DEFAULT =
      new ConnectionParameters(
          ByteBuffer.allocate(0), DEVICE_MAXIMUM, DEVICE_MAXIMUM, false, 7, 7, false, 0);

  private static final int LONGEST_PRIVATE_DATA = 255;

  /**
   * Checks the numbers, and copies the private data.
   *
   * @throws IllegalArgumentException where one is out of its range, or the private data longer than
   *     255 bytes; how much there is room for in a message tells {@link PortSpace}
   */
  public ConnectionParameters {
    Range.check("length of the private data", privateData.remaining(), 0, LONGEST_PRIVATE_DATA);
    Range.check("responderResources", responderResources, 0, DEVICE_MAXIMUM);
    Range.check("initiatorDepth", initiatorDepth, 0, DEVICE_MAXIMUM);
    Range.check("retryCount", retryCount, 0, 7);
    Range.check("rnrRetryCount", rnrRetryCount, 0, 7);
    Range.check("queuePairNumber", queuePairNumber, 0, 0xff_ffff);
    privateData = copy(privateData);
  }

  static ByteBuffer copy(ByteBuffer data) {
    return ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip().asReadOnlyBuffer();
  }

  /** What the peer told in an event. */
  static ConnectionParameters read(MemorySegment param) {
    return new ConnectionParameters(
        privateData(rdma_conn_param.private_data(param), rdma_conn_param.private_data_len(param)),
        Byte.toUnsignedInt(rdma_conn_param.responder_resources(param)),
        Byte.toUnsignedInt(rdma_conn_param.initiator_depth(param)),
        rdma_conn_param.flow_control(param) != 0,
        rdma_conn_param.retry_count(param) & 7,
        rdma_conn_param.rnr_retry_count(param) & 7,
        rdma_conn_param.srq(param) != 0,
        rdma_conn_param.qp_num(param) & 0xff_ffff);
  }

  static ByteBuffer privateData(MemorySegment data, byte length) {
    return data.address() == 0
        ? ByteBuffer.allocate(0)
        : data.reinterpret(Byte.toUnsignedLong(length)).asByteBuffer();
  }

  MemorySegment write(Arena arena) {
    MemorySegment param = arena.allocate(rdma_conn_param.layout());
    rdma_conn_param.private_data(param, write(privateData, arena));
    rdma_conn_param.private_data_len(param, (byte) privateData.remaining());
    rdma_conn_param.responder_resources(param, (byte) responderResources);
    rdma_conn_param.initiator_depth(param, (byte) initiatorDepth);
    rdma_conn_param.flow_control(param, (byte) (flowControl ? 1 : 0));
    rdma_conn_param.retry_count(param, (byte) retryCount);
    rdma_conn_param.rnr_retry_count(param, (byte) rnrRetryCount);
    rdma_conn_param.srq(param, (byte) (sharedReceiveQueue ? 1 : 0));
    rdma_conn_param.qp_num(param, queuePairNumber);
    return param;
  }

  static MemorySegment write(ByteBuffer data, Arena arena) {
    MemorySegment copy = arena.allocate(Math.max(1, data.remaining()));
    copy.asByteBuffer().put(data.duplicate());
    return copy;
  }

  /**
   * What the peer is told.
   *
   * @return the private data, read-only, with a position of its own
   */
  @Override
  public ByteBuffer privateData() {
    return privateData.duplicate();
  }

  /**
   * A copy with another {@link #privateData()}.
   *
   * @param privateData what the peer is told, from the position to the limit; it is copied
   * @return the copy
   */
  public ConnectionParameters privateData(ByteBuffer privateData) {
    return with(draft -> draft.privateData = privateData);
  }

  /**
   * A copy with another {@link #responderResources()}.
   *
   * @param responderResources the most reads and atomics of the peer that are answered at once, 0
   *     to 254, or {@link #DEVICE_MAXIMUM}
   * @return the copy
   */
  public ConnectionParameters responderResources(int responderResources) {
    return with(draft -> draft.responderResources = responderResources);
  }

  /**
   * A copy with another {@link #initiatorDepth()}.
   *
   * @param initiatorDepth the most reads and atomics that are outstanding at the peer, 0 to 254, or
   *     {@link #DEVICE_MAXIMUM}
   * @return the copy
   */
  public ConnectionParameters initiatorDepth(int initiatorDepth) {
    return with(draft -> draft.initiatorDepth = initiatorDepth);
  }

  /**
   * A copy with another {@link #flowControl()}.
   *
   * @param flowControl whether the hardware is to control the flow of messages, where it can
   * @return the copy
   */
  public ConnectionParameters flowControl(boolean flowControl) {
    return with(draft -> draft.flowControl = flowControl);
  }

  /**
   * A copy with another {@link #retryCount()}.
   *
   * @param retryCount how often to send again when no acknowledgement came, 0 to 7; of no meaning
   *     in an acceptance
   * @return the copy
   */
  public ConnectionParameters retryCount(int retryCount) {
    return with(draft -> draft.retryCount = retryCount);
  }

  /**
   * A copy with another {@link #rnrRetryCount()}.
   *
   * @param rnrRetryCount how often to send again when the peer had no receive posted, 0 to 7, of
   *     which 7 is for ever; in an acceptance, how often the peer is to
   * @return the copy
   */
  public ConnectionParameters rnrRetryCount(int rnrRetryCount) {
    return with(draft -> draft.rnrRetryCount = rnrRetryCount);
  }

  /**
   * A copy with another {@link #sharedReceiveQueue()}.
   *
   * @param sharedReceiveQueue whether a queue pair of one's own has a shared receive queue
   * @return the copy
   */
  public ConnectionParameters sharedReceiveQueue(boolean sharedReceiveQueue) {
    return with(draft -> draft.sharedReceiveQueue = sharedReceiveQueue);
  }

  /**
   * A copy with another {@link #queuePairNumber()}.
   *
   * @param queuePairNumber the number of a queue pair of one's own, 0 to 0xffffff
   * @return the copy
   */
  public ConnectionParameters queuePairNumber(int queuePairNumber) {
    return with(draft -> draft.queuePairNumber = queuePairNumber);
  }

  private ConnectionParameters with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.parameters();
  }

  /** A copy that can be changed. */
  private static final class Draft {
    ByteBuffer privateData;
    int responderResources;
    int initiatorDepth;
    boolean flowControl;
    int retryCount;
    int rnrRetryCount;
    boolean sharedReceiveQueue;
    int queuePairNumber;

    Draft(ConnectionParameters parameters) {
      this.privateData = parameters.privateData;
      this.responderResources = parameters.responderResources;
      this.initiatorDepth = parameters.initiatorDepth;
      this.flowControl = parameters.flowControl;
      this.retryCount = parameters.retryCount;
      this.rnrRetryCount = parameters.rnrRetryCount;
      this.sharedReceiveQueue = parameters.sharedReceiveQueue;
      this.queuePairNumber = parameters.queuePairNumber;
    }

    ConnectionParameters parameters() {
      return new ConnectionParameters(
          privateData,
          responderResources,
          initiatorDepth,
          flowControl,
          retryCount,
          rnrRetryCount,
          sharedReceiveQueue,
          queuePairNumber);
    }
  }
}
