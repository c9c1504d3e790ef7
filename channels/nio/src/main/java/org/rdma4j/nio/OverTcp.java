package org.rdma4j.nio;

import java.nio.channels.SelectableChannel;
import java.util.concurrent.CopyOnWriteArrayList;

/** What a {@link ReadySelector} needs to know of a channel of this package. */
interface OverTcp {
  /** Returns the channel of the JDK. */
  SelectableChannel tcp();

  /** Returns the keys of the channel, which it notifies when it becomes ready. */
  CopyOnWriteArrayList<ReadyKey> watchers();

  /** Returns whether some of its bytes use RDMA. */
  boolean isOverRdma();

  /** Returns the operations for which TCP decides whether the channel is ready. */
  int tcpOperations();

  /** Returns the operations that the channel is ready for, apart from those of TCP. */
  int readyOperations();
}
