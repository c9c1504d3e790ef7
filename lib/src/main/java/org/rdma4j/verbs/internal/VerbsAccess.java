package org.rdma4j.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.RdmaDevice;

/** What of the verbs is not public: they grant it to the connection manager. */
public interface VerbsAccess {
  /** The one that the verbs granted. */
  static VerbsAccess get() {
    return Granted.get();
  }

  /** Called by the verbs, once. */
  static void grant(VerbsAccess access) {
    Granted.access = access;
  }

  /**
   * The device of a context that librdmacm opened and keeps.
   *
   * @param release called once the device is closed, instead of {@code ibv_close_device}; also
   *     where this fails
   */
  RdmaDevice borrow(MemorySegment context, Runnable release);

  /** Creates a queue pair in another way than that of verbs. */
  QueuePair createQueuePair(
      ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin);

  /** Takes note of the state that librdmacm brought a queue pair to. */
  void noteState(QueuePair queuePair, QueuePairState state);

  /** What a {@code struct ibv_qp_attr} and its mask describe. */
  QueuePairChange change(MemorySegment attributes, int mask);

  /** Returns the lifetime of a device, for objects of other packages that depend on it. */
  Lifetime lifetime(RdmaDevice device);

  /** Returns the lifetime of a queue pair, for objects of other packages that depend on it. */
  Lifetime lifetime(QueuePair queuePair);

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
