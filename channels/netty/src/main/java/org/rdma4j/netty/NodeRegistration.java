package org.rdma4j.netty;

import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;
import java.util.function.Consumer;

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

  /** Returns whether an event loop drives a node. */
  static boolean isCompatible(EventLoop loop) {
    return loop instanceof IoEventLoop io && io.isCompatible(RdmaHandle.class);
  }

  /**
   * Registers a channel with its event loop.
   *
   * @param promise is completed afterwards
   * @param registered is given the event loop's registration, whose attachment is that here
   */
  static void register(
      EventLoop loop,
      RdmaHandle handle,
      ChannelPromise promise,
      Consumer<IoRegistration> registered) {
    ((IoEventLoop) loop)
        .register(handle)
        .addListener(
            (Future<IoRegistration> done) -> {
              if (done.isSuccess()) {
                registered.accept(done.getNow());
                promise.setSuccess();
              } else {
                promise.setFailure(done.cause());
              }
            });
  }

  RdmaIoHandler handler() {
    return handler;
  }

  RdmaHandle handle() {
    return handle;
  }

  /** Lets the channel look soon for pending work. Called in the event loop. */
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
