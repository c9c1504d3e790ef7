package org.rdma4j.netty;

import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;

/** A channel at the node of its event loop. */
final class NodeRegistration implements IoRegistration {
  private final RdmaIoHandler handler;
  private final RdmaHandle handle;
  private boolean queued;
  private volatile boolean valid = true;

  NodeRegistration(RdmaIoHandler handler, RdmaHandle handle) {
    this.handler = handler;
    this.handle = handle;
  }

  RdmaIoHandler handler() {
    return handler;
  }

  RdmaHandle handle() {
    return handle;
  }

  /** Lets the channel look soon for what there is to do. Called in the event loop. */
  void ready() {
    if (valid && !queued) {
      queued = true;
      handler.ready(this);
    }
  }

  /** Lets the channel look now. */
  void run() {
    queued = false;
    if (valid) {
      handle.handle(this, RdmaHandle.READY);
    }
  }

  /** Returns this: the event loop wraps what a handler has made. */
  @Override
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // Netty's signature.
  public <T> T attachment() {
    return (T) this;
  }

  @Override
  public long submit(IoOps ops) {
    throw new UnsupportedOperationException(
        "submit(" + ops + "): the channels of this transport use their connections instead");
  }

  @Override
  public boolean isValid() {
    return valid;
  }

  @Override
  public boolean cancel() {
    boolean was = valid;
    valid = false;
    if (was) {
      handler.remove(this);
      handle.unregistered();
    }
    return was;
  }
}
