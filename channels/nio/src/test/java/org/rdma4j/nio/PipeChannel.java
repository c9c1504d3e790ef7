package org.rdma4j.nio;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;

/** A channel over a pipe, which is upgraded and becomes ready over RDMA when a test says so. */
final class PipeChannel extends AbstractSelectableChannel implements OverTcp {
  private final SelectableChannel tcp;
  private final IntSupplier tcpOperations;
  private final CopyOnWriteArrayList<ReadyKey> watchers = new CopyOnWriteArrayList<>();
  private volatile boolean overRdma;
  private volatile boolean ready;

  /**
   * Creates a channel that does not block.
   *
   * @param tcpOperations is asked for the operations of TCP until the channel was upgraded
   */
  PipeChannel(SelectableChannel tcp, IntSupplier tcpOperations) throws IOException {
    super(tcp.provider());
    this.tcp = tcp;
    this.tcpOperations = tcpOperations;
    configureBlocking(false);
  }

  void goOver() {
    overRdma = true;
    watchers.forEach(ReadyKey::moved);
  }

  void becomeReady() {
    ready = true;
    watchers.forEach(key -> key.changed(SelectionKey.OP_READ));
  }

  @Override
  public SelectableChannel tcp() {
    return tcp;
  }

  @Override
  public CopyOnWriteArrayList<ReadyKey> watchers() {
    return watchers;
  }

  @Override
  public boolean isOverRdma() {
    return overRdma;
  }

  @Override
  public int tcpOperations() {
    return overRdma ? 0 : tcpOperations.getAsInt();
  }

  @Override
  public int readyOperations() {
    return ready ? SelectionKey.OP_READ : 0;
  }

  @Override
  public int validOps() {
    return SelectionKey.OP_READ;
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    tcp.close();
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    tcp.configureBlocking(block);
  }
}
