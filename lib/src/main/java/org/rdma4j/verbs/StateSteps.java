package org.rdma4j.verbs;

import java.util.List;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.attribute.EfaCapability;

/** The changes of state that bring a queue pair of each type from RESET to READY_TO_SEND. */
final class StateSteps {
  private final QueuePair queuePair;

  StateSteps(QueuePair queuePair) {
    this.queuePair = queuePair;
  }

  void initialize(int port, int partitionKeyIndex, List<AccessFlag> access) {
    requireConnection("initializeDatagrams");
    device().checkPort(port);
    queuePair.modify(
        QueuePairChange.none()
            .state(QueuePairState.INIT)
            .partitionKeyIndex(partitionKeyIndex)
            .port(port)
            .access(access));
  }

  void initializeDatagrams(int port, int partitionKeyIndex, int queueKey) {
    requireDatagrams();
    device().checkPort(port);
    queuePair.modify(
        QueuePairChange.none()
            .state(QueuePairState.INIT)
            .partitionKeyIndex(partitionKeyIndex)
            .port(port)
            .queueKey(queueKey));
  }

  void readyToReceive(PathConfig path) {
    requireConnection("startDatagrams");
    PathConfig known = path.resolvedAt(device().port(path.port()));
    if (isReliable()) {
      Range.check("remoteReads", path.remoteReads(), 0, device().limits().maxRemoteReads());
    }
    queuePair.modify(known.readyToReceive(queuePair.type()));
  }

  void readyToSend(PathConfig path) {
    requireConnection("startDatagrams");
    if (isReliable()) {
      Range.check("reads", path.reads(), 0, device().limits().maxReads());
    }
    queuePair.modify(path.readyToSend(queuePair.type(), queuePair.sequenceNumber()));
  }

  void connect(PathConfig path) {
    if (isInReset()) {
      initialize(path.port(), path.partitionKeyIndex(), List.copyOf(path.access()));
    }
    readyToReceive(path);
    readyToSend(path);
  }

  void startDatagrams(int port, int partitionKeyIndex, int queueKey) {
    start(port, partitionKeyIndex, queueKey, readyToSend());
  }

  void startDatagrams(int port, int partitionKeyIndex, int queueKey, int rnrRetries) {
    if (queuePair.type() != QueuePairType.SCALABLE_RELIABLE_DATAGRAM) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + ", which never sends a datagram again; call startDatagrams without rnrRetries");
    }
    QueuePairChange change = readyToSend().rnrRetries(rnrRetries);
    ReliableDatagrams.require(EfaCapability.RNR_RETRY, device());
    start(port, partitionKeyIndex, queueKey, change);
  }

  private QueuePairChange readyToSend() {
    return QueuePairChange.none()
        .state(QueuePairState.READY_TO_SEND)
        .sendSequenceNumber(queuePair.sequenceNumber());
  }

  private void start(int port, int partitionKeyIndex, int queueKey, QueuePairChange readyToSend) {
    requireDatagrams();
    if (isInReset()) {
      initializeDatagrams(port, partitionKeyIndex, queueKey);
    }
    queuePair.modify(QueuePairChange.none().state(QueuePairState.READY_TO_RECEIVE));
    queuePair.modify(readyToSend);
  }

  void startRawPackets(int port) {
    if (queuePair.type() != QueuePairType.RAW_PACKET) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + ", must be RAW_PACKET; call connect or startDatagrams");
    }
    device().checkPort(port);
    queuePair.modify(QueuePairChange.none().state(QueuePairState.INIT).port(port));
    queuePair.modify(QueuePairChange.none().state(QueuePairState.READY_TO_RECEIVE));
    queuePair.modify(QueuePairChange.none().state(QueuePairState.READY_TO_SEND));
  }

  void requireDatagrams() {
    if (!queuePair.type().isDatagram()) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + ", which does not send datagrams; call connect");
    }
  }

  void requireMulticast() {
    requireDatagrams();
    if (queuePair.type() != QueuePairType.UNRELIABLE_DATAGRAM) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + ", which has no groups; attach one of type UNRELIABLE_DATAGRAM");
    }
  }

  private void requireConnection(String instead) {
    QueuePairType type = queuePair.type();
    if (type.isDatagram() || type == QueuePairType.RAW_PACKET) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + type
              + ", which does not connect to a peer; call "
              + (type == QueuePairType.RAW_PACKET ? "startRawPackets" : instead));
    }
  }

  private boolean isInReset() {
    return queuePair.query().state() == QueuePairState.RESET;
  }

  private boolean isReliable() {
    return queuePair.type() != QueuePairType.UNRELIABLE_CONNECTION;
  }

  private RdmaDevice device() {
    return queuePair.domain().device();
  }
}
