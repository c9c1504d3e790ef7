package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.internal.QueuePairOrigin;
import org.rdma4j.verbs.internal.VerbsAccess;

/** Opens to the connection manager what it needs of this package. */
final class Access implements VerbsAccess {
  @Override
  public RdmaDevice borrow(MemorySegment context, Runnable release) {
    return RdmaDevice.borrow(context, release);
  }

  @Override
  public boolean isOpen(RdmaDevice device) {
    return device.lifetime().isOpen();
  }

  @Override
  public QueuePair createQueuePair(
      ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin) {
    return domain.createQueuePair(config, origin);
  }

  @Override
  public void isIn(QueuePair queuePair, QueuePairState state) {
    queuePair.isIn(state);
  }

  @Override
  public QueuePairChange change(MemorySegment attributes, int mask) {
    return QueuePairChange.of(attributes, mask);
  }

  @Override
  public @Nullable AddressVector addressVector(MemorySegment vector) {
    return AddressVector.read(vector);
  }

  @Override
  public Gid gid(MemorySegment raw) {
    return Gid.read(raw);
  }

  @Override
  public void write(Gid gid, MemorySegment raw) {
    gid.write(raw);
  }
}
