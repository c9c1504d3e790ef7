package org.rdma4j.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.MemoryWindow;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.RdmaDevice;

/** Access to what is not public in the verbs, for the packages above them. */
public interface VerbsAccess {
  /** Returns the access that the verbs granted. */
  static VerbsAccess get() {
    return Granted.get();
  }

  /** Grants the access. Called once, by the verbs. */
  static void grant(VerbsAccess access) {
    Granted.access = access;
  }

  /**
   * Returns a device for a context that librdmacm opened and keeps open.
   *
   * @param release called when the device is closed, instead of {@code ibv_close_device}; also
   *     called if this method fails
   */
  RdmaDevice borrow(MemorySegment context, Runnable release);

  /** Creates a queue pair in another way than with {@code ibv_create_qp}. */
  QueuePair createQueuePair(
      ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin);

  /** Records the state to which librdmacm has moved a queue pair. */
  void noteState(QueuePair queuePair, QueuePairState state);

  /** Returns the change that a {@code struct ibv_qp_attr} and its mask describe. */
  QueuePairChange change(MemorySegment attributes, int mask);

  /**
   * Has an action run when the device turns out to be removed from the machine, before it is
   * closed.
   *
   * @return takes the action back
   */
  Runnable onRemoval(RdmaDevice device, Runnable action);

  /** Runs the actions of those who want to know that the device was removed, and closes it. */
  void removed(RdmaDevice device);

  /** Returns whether posts and polls of a device never enter the kernel, so that they are short. */
  boolean postsInUserSpace(RdmaDevice device);

  /** Returns the lifetime of a device, for objects of other packages that depend on it. */
  Lifetime lifetime(RdmaDevice device);

  /** Returns the lifetime of a channel, for objects of other packages that use it. */
  Lifetime lifetime(CompletionChannel channel);

  /** Returns the lifetime of a queue pair, for objects of other packages that depend on it. */
  Lifetime lifetime(QueuePair queuePair);

  /** Returns the lifetime of a region, for objects of other packages that depend on it. */
  Lifetime lifetime(MemoryRegion region);

  /** Sets of which pieces a region consists, before a user can know the region. */
  void setPieces(MemoryRegion region, ReusedPieces pieces);

  /**
   * Counts an operation on memory until {@link #endOperation}, if it consists of such pieces.
   *
   * @throws IllegalStateException if no user holds the memory; nothing is counted then
   */
  void beginOperation(MemorySlice memory);

  /** Ends an operation on memory. */
  void endOperation(MemorySlice memory);

  /** Returns the lifetime of a memory window, for objects of other packages that depend on it. */
  Lifetime lifetime(MemoryWindow window);

  /** Returns whether a queue pair is used in place, where there are no binds and invalidates. */
  boolean isInPlace(QueuePair queuePair);

  /** Returns the key that the next bind by a request gives a memory window of type 2. */
  int nextKey(MemoryWindow window);

  /**
   * Records that a request has invalidated a memory window of type 2, after its completion: the
   * window is bound to nothing, so the close of its region or of its queue pair does not close it.
   */
  void invalidated(MemoryWindow window);

  /** Holds what was granted, which the initialisation of the device's class does. */
  final class Granted {
    private static volatile @Nullable VerbsAccess access;

    private Granted() {}

    private static VerbsAccess get() {
      VerbsAccess granted = access;
      if (granted != null) {
        return granted;
      }
      try {
        MethodHandles.lookup().ensureInitialized(RdmaDevice.class);
      } catch (IllegalAccessException impossible) {
        throw new IllegalStateException(impossible);
      }
      return Objects.requireNonNull(access);
    }
  }
}
