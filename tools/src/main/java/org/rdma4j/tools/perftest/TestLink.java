package org.rdma4j.tools.perftest;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/** A queue pair and that of the peer. */
final class TestLink {
  private final int index;
  private final QueuePair queuePair;
  private @Nullable SendRequests sends;
  private @Nullable ReceiveRequests receives;
  private Keys local = Keys.NONE;
  private Keys remote = Keys.NONE;
  private @Nullable AddressHandle handle;
  private int remoteNumber;
  private int remoteQueueKey;

  TestLink(int index, QueuePair queuePair) {
    this.index = index;
    this.queuePair = queuePair;
  }

  /** Returns its number among the queue pairs, from 0. */
  int index() {
    return index;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  /** Returns the batch of send requests. All tests of a run use the same. */
  SendRequests sendRequests(int max) {
    if (sends == null) {
      sends = queuePair.sendRequests(max);
    }
    return sends;
  }

  /** Returns the batch of receive requests. All tests of a run use the same. */
  ReceiveRequests receiveRequests(int max) {
    if (receives == null) {
      receives = queuePair.receiveRequests(max);
    }
    return receives;
  }

  /** Returns what the peer receives about this side. */
  Keys local() {
    return local;
  }

  void local(Keys keys) {
    local = keys;
  }

  /** Returns what the peer has told. */
  Keys remote() {
    return remote;
  }

  void remote(Keys keys) {
    remote = keys;
  }

  /** Sets where datagrams are sent. */
  void sendTo(AddressHandle to, int number, int queueKey) {
    handle = to;
    remoteNumber = number;
    remoteQueueKey = queueKey;
  }

  /** Returns where datagrams are sent, or null if nothing is. */
  @Nullable AddressHandle handle() {
    return handle;
  }

  int remoteNumber() {
    return remoteNumber;
  }

  int remoteQueueKey() {
    return remoteQueueKey;
  }

  @Override
  public String toString() {
    return Objects.toString(queuePair);
  }
}
