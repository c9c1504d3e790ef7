package org.rdma4j.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.rdma4j.bindings.generated.rdma_conn_param;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.Range;

/**
 * A connection, as one side describes it to the other when they connect: {@code struct
 * rdma_conn_param}. Immutable; each method that takes a value returns a changed copy.
 *
 * <p>What comes with an event differs in two points. The private data is as long as such a message
 * can carry: zeros follow what the peer gave. The numbers are what the peer asks for or grants:
 * remoteReads is how many reads and atomics it would have outstanding here, reads is how many of
 * this side it answers concurrently.
 *
 * @param privateData the bytes from the position to the limit, which the program of the peer gets
 * @param remoteReads the maximum number of the peer's reads and atomics that are answered
 *     concurrently, {@code responder_resources}: 0 to 254, or {@link #DEVICE_MAXIMUM}
 * @param reads the maximum number of reads and atomics outstanding at the peer, {@code
 *     initiator_depth}: 0 to 254, or {@link #DEVICE_MAXIMUM}
 * @param flowControl whether the hardware controls the flow of messages, if it can
 * @param retries how many times to send again if no acknowledgement comes, 0 to 7; ignored when
 *     accepting
 * @param rnrRetries how many times to send again if the peer has not posted a receive, 0 to 6, or 7
 *     for forever; when accepting, how often the peer is to send again
 * @param sharedReceiveQueue whether an {@linkplain ExternalQueuePair external queue pair} has a
 *     shared receive queue; ignored for others
 * @param queuePairNumber the number of an {@linkplain ExternalQueuePair external queue pair}, 0 to
 *     0xffffff; ignored for others
 * @see CmId#connect
 * @see CmId#accept
 */
public record ConnectionConfig(
    ByteBuffer privateData,
    int remoteReads,
    int reads,
    boolean flowControl,
    int retries,
    int rnrRetries,
    boolean sharedReceiveQueue,
    int queuePairNumber) {
  /** Stands for as many reads and atomics as the device offers: {@code RDMA_MAX_RESP_RES}. */
  public static final int DEVICE_MAXIMUM = rdma_h.RDMA_MAX_RESP_RES();

  /**
   * No private data, as many reads and atomics as the device offers, no flow control, and 7 for
   * both retry counts. These are C's defaults for a NULL pointer.
   */
  public static final ConnectionConfig DEFAULT =
      new ConnectionConfig(PrivateData.NONE, DEVICE_MAXIMUM, DEVICE_MAXIMUM, false, 7, 7, false, 0);

  private static final int MAX_PRIVATE_DATA = 255;

  /**
   * Checks the numbers and copies the private data.
   *
   * @throws IllegalArgumentException if a number is out of its range, or the private data is longer
   *     than 255 bytes; {@link PortSpace} specifies how much of that a message carries
   */
  public ConnectionConfig {
    Range.check("length of the private data", privateData.remaining(), 0, MAX_PRIVATE_DATA);
    Range.check("remoteReads", remoteReads, 0, DEVICE_MAXIMUM);
    Range.check("reads", reads, 0, DEVICE_MAXIMUM);
    Range.check("retries", retries, 0, 7);
    Range.check("rnrRetries", rnrRetries, 0, 7);
    Range.check("queuePairNumber", queuePairNumber, 0, 0xff_ffff);
    privateData = PrivateData.copy(privateData);
  }

  /** Reads what the peer sends in an event. */
  static ConnectionConfig read(MemorySegment param) {
    return new ConnectionConfig(
        PrivateData.read(
            rdma_conn_param.private_data(param),
            Byte.toUnsignedLong(rdma_conn_param.private_data_len(param))),
        Byte.toUnsignedInt(rdma_conn_param.responder_resources(param)),
        Byte.toUnsignedInt(rdma_conn_param.initiator_depth(param)),
        rdma_conn_param.flow_control(param) != 0,
        rdma_conn_param.retry_count(param) & 7,
        rdma_conn_param.rnr_retry_count(param) & 7,
        rdma_conn_param.srq(param) != 0,
        rdma_conn_param.qp_num(param) & 0xff_ffff);
  }

  MemorySegment write(Arena arena) {
    MemorySegment param = arena.allocate(rdma_conn_param.layout());
    rdma_conn_param.private_data(param, PrivateData.write(privateData, arena));
    rdma_conn_param.private_data_len(param, (byte) privateData.remaining());
    rdma_conn_param.responder_resources(param, (byte) remoteReads);
    rdma_conn_param.initiator_depth(param, (byte) reads);
    rdma_conn_param.flow_control(param, (byte) (flowControl ? 1 : 0));
    rdma_conn_param.retry_count(param, (byte) retries);
    rdma_conn_param.rnr_retry_count(param, (byte) rnrRetries);
    rdma_conn_param.srq(param, (byte) (sharedReceiveQueue ? 1 : 0));
    rdma_conn_param.qp_num(param, queuePairNumber);
    return param;
  }

  /**
   * Returns the private data.
   *
   * @return the data, read-only; each call returns a buffer with its own position
   */
  @Override
  public ByteBuffer privateData() {
    return privateData.duplicate();
  }

  /**
   * Returns a copy with another {@link #privateData()}.
   *
   * @param privateData the bytes from the position to the limit, which are copied
   * @return the copy
   */
  public ConnectionConfig privateData(ByteBuffer privateData) {
    return with(draft -> draft.privateData = privateData);
  }

  /**
   * Returns a copy with another {@link #remoteReads()}.
   *
   * @param remoteReads the maximum number of the peer's reads and atomics that are answered
   *     concurrently, 0 to 254, or {@link #DEVICE_MAXIMUM}
   * @return the copy
   */
  public ConnectionConfig remoteReads(int remoteReads) {
    return with(draft -> draft.remoteReads = remoteReads);
  }

  /**
   * Returns a copy with another {@link #reads()}.
   *
   * @param reads the maximum number of reads and atomics outstanding at the peer, 0 to 254, or
   *     {@link #DEVICE_MAXIMUM}
   * @return the copy
   */
  public ConnectionConfig reads(int reads) {
    return with(draft -> draft.reads = reads);
  }

  /**
   * Returns a copy with another {@link #flowControl()}.
   *
   * @param flowControl whether the hardware controls the flow of messages, if it can
   * @return the copy
   */
  public ConnectionConfig flowControl(boolean flowControl) {
    return with(draft -> draft.flowControl = flowControl);
  }

  /**
   * Returns a copy with another {@link #retries()}.
   *
   * @param retries how many times to send again if no acknowledgement comes, 0 to 7; ignored when
   *     accepting
   * @return the copy
   */
  public ConnectionConfig retries(int retries) {
    return with(draft -> draft.retries = retries);
  }

  /**
   * Returns a copy with another {@link #rnrRetries()}.
   *
   * @param rnrRetries how many times to send again if the peer has not posted a receive, 0 to 6, or
   *     7 for forever; when accepting, how often the peer is to send again
   * @return the copy
   */
  public ConnectionConfig rnrRetries(int rnrRetries) {
    return with(draft -> draft.rnrRetries = rnrRetries);
  }

  /**
   * Returns a copy with another {@link #sharedReceiveQueue()}.
   *
   * @param sharedReceiveQueue whether an external queue pair has a shared receive queue
   * @return the copy
   */
  public ConnectionConfig sharedReceiveQueue(boolean sharedReceiveQueue) {
    return with(draft -> draft.sharedReceiveQueue = sharedReceiveQueue);
  }

  /**
   * Returns a copy with another {@link #queuePairNumber()}.
   *
   * @param queuePairNumber the number of an external queue pair, 0 to 0xffffff
   * @return the copy
   */
  public ConnectionConfig queuePairNumber(int queuePairNumber) {
    return with(draft -> draft.queuePairNumber = queuePairNumber);
  }

  private ConnectionConfig with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.config();
  }

  /** The components, to change one of them. */
  private static final class Draft {
    ByteBuffer privateData;
    int remoteReads;
    int reads;
    boolean flowControl;
    int retries;
    int rnrRetries;
    boolean sharedReceiveQueue;
    int queuePairNumber;

    Draft(ConnectionConfig config) {
      this.privateData = config.privateData;
      this.remoteReads = config.remoteReads;
      this.reads = config.reads;
      this.flowControl = config.flowControl;
      this.retries = config.retries;
      this.rnrRetries = config.rnrRetries;
      this.sharedReceiveQueue = config.sharedReceiveQueue;
      this.queuePairNumber = config.queuePairNumber;
    }

    ConnectionConfig config() {
      return new ConnectionConfig(
          privateData,
          remoteReads,
          reads,
          flowControl,
          retries,
          rnrRetries,
          sharedReceiveQueue,
          queuePairNumber);
    }
  }
}
