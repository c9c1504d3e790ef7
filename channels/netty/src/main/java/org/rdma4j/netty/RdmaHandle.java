package org.rdma4j.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import org.jspecify.annotations.Nullable;

/** What a channel is to the {@link RdmaIoHandler} of its event loop. */
interface RdmaHandle extends IoHandle {
  /** The only event: there may be something to do. */
  IoEvent READY = new IoEvent() {};

  /** Returns the handler that the channel is bound to by its connection; null if it is free. */
  @Nullable RdmaIoHandler home();

  @Override
  void close();
}
