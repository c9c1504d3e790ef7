package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.verbs.internal.QueuePairOrigin;
import org.rdma4j.verbs.internal.VerbsAccess;

/** Gives the packages above this one access to what is not public. */
final class Access implements VerbsAccess {
  @Override
  public RdmaDevice borrow(MemorySegment context, Runnable release) {
    return RdmaDevice.borrow(context, release);
  }

  @Override
  public QueuePair createQueuePair(
      ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin) {
    return QueuePairCreation.create(domain, config, origin);
  }

  @Override
  public void noteState(QueuePair queuePair, QueuePairState state) {
    queuePair.noteState(state);
  }

  @Override
  public QueuePairChange change(MemorySegment attributes, int mask) {
    return QueuePairChange.of(attributes, mask);
  }

  @Override
  public Runnable onRemoval(RdmaDevice device, Runnable action) {
    return device.onRemoval(action);
  }

  @Override
  public void removed(RdmaDevice device) {
    device.removed();
  }

  @Override
  public boolean postsInUserSpace(RdmaDevice device) {
    return device.callsCritically();
  }

  @Override
  public Lifetime lifetime(RdmaDevice device) {
    return device.lifetime();
  }

  @Override
  public Lifetime lifetime(CompletionChannel channel) {
    return channel.lifetime();
  }

  @Override
  public Lifetime lifetime(QueuePair queuePair) {
    return queuePair.lifetime();
  }

  @Override
  public Lifetime lifetime(MemoryRegion region) {
    return region.lifetime();
  }

  @Override
  public void setPieces(MemoryRegion region, ReusedPieces pieces) {
    region.setPieces(pieces);
  }

  @Override
  public void beginOperation(MemorySlice memory) {
    ReusedPieces pieces = memory.region().pieces();
    if (pieces != null) {
      pieces.begin(memory.offset(), memory.length());
    }
  }

  @Override
  public void endOperation(MemorySlice memory) {
    ReusedPieces pieces = memory.region().pieces();
    if (pieces != null) {
      pieces.end(memory.offset(), memory.length());
    }
  }

  @Override
  public Lifetime lifetime(MemoryWindow window) {
    return window.lifetime();
  }

  @Override
  public boolean isInPlace(QueuePair queuePair) {
    return queuePair.isInPlace();
  }

  @Override
  public int nextKey(MemoryWindow window) {
    return window.nextKey();
  }

  @Override
  public void invalidated(MemoryWindow window) {
    window.invalidated();
  }
}
