package org.rdma4j.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.EfaCapability;

/**
 * The attributes that a completion queue is created with: {@code struct ibv_cq_init_attr_ex}.
 * Instances are immutable; each method that takes a value returns a changed copy.
 *
 * @param entries the minimum number of completions that the queue can hold, from 1 to {@link
 *     DeviceAttributes#maxCompletionQueueEntries}
 * @param channel the channel on which events of the queue arrive; closing the channel closes the
 *     queue. Null, the default, for no events
 * @param vector the index of the completion vector (interrupt) of the device that raises the
 *     events, from 0 to {@link RdmaDevice#completionVectors} - 1; default 0
 * @param fields the fields of completions of an extended queue, {@code ibv_create_cq_ex}, in
 *     addition to the id, the status and the opcode; null, the default, for a plain queue, {@code
 *     ibv_create_cq}, whose completions have all fields of {@code struct ibv_wc}
 * @param parentDomain the parent domain whose allocator and thread domain the device uses for the
 *     queue, {@code IBV_CQ_INIT_ATTR_MASK_PD}; it has to be extended. Null, the default, for none
 * @param ignoreOverrun whether the device need not check that the queue overruns, {@code
 *     IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN}; it has to be extended. Default false
 * @param singleThreaded whether one thread at a time polls the queue, so that the provider takes no
 *     lock for it, {@code IBV_CREATE_CQ_ATTR_SINGLE_THREADED}; it has to be extended. Default false
 * @param access how the queue is polled, and how requests are posted to its queue pairs; default
 *     BY_PROVIDER
 * @see RdmaDevice#createCompletionQueue(CompletionQueueConfig)
 * @see CompletionField
 */
public record CompletionQueueConfig(
    int entries,
    @Nullable CompletionChannel channel,
    int vector,
    @Nullable Set<CompletionField> fields,
    @Nullable ProtectionDomain parentDomain,
    boolean ignoreOverrun,
    boolean singleThreaded,
    QueueAccess access) {
  /** Copies the fields. */
  public CompletionQueueConfig {
    fields = fields == null ? null : Set.copyOf(fields);
  }

  /**
   * Returns the configuration of a plain queue without a channel.
   *
   * @param entries the minimum number of completions that the queue can hold
   * @return the configuration, with the default of everything else
   */
  public static CompletionQueueConfig of(int entries) {
    return new CompletionQueueConfig(
        entries, null, 0, null, null, false, false, QueueAccess.DEFAULT);
  }

  /**
   * Returns a copy with another {@link #channel()}.
   *
   * @param channel the channel on which events of the queue arrive; null for no events
   * @return the copy
   */
  public CompletionQueueConfig channel(@Nullable CompletionChannel channel) {
    return new CompletionQueueConfig(
        entries, channel, vector, fields, parentDomain, ignoreOverrun, singleThreaded, access);
  }

  /**
   * Returns a copy with another {@link #vector()}.
   *
   * @param vector the index of the completion vector of the device that raises the events
   * @return the copy
   */
  public CompletionQueueConfig vector(int vector) {
    return new CompletionQueueConfig(
        entries, channel, vector, fields, parentDomain, ignoreOverrun, singleThreaded, access);
  }

  /**
   * Returns a copy that creates an extended queue.
   *
   * @param fields the fields of its completions; other fields are 0
   * @return the copy
   */
  public CompletionQueueConfig extended(CompletionField... fields) {
    return new CompletionQueueConfig(
        entries,
        channel,
        vector,
        Set.of(fields),
        parentDomain,
        ignoreOverrun,
        singleThreaded,
        access);
  }

  /**
   * Returns a copy with another {@link #parentDomain()}.
   *
   * @param domain a domain of {@link ProtectionDomain#allocateParentDomain}; closing it closes the
   *     queue. Null for none
   * @return the copy
   */
  public CompletionQueueConfig parentDomain(@Nullable ProtectionDomain domain) {
    return new CompletionQueueConfig(
        entries, channel, vector, fields, domain, ignoreOverrun, singleThreaded, access);
  }

  /**
   * Returns a copy with another {@link #ignoreOverrun()}.
   *
   * @param ignore whether the device need not check that the queue overruns. Queue pairs of this
   *     library do not let it overrun, unless they were created with {@link
   *     QueuePairConfig#ignoreOverrun}
   * @return the copy
   */
  public CompletionQueueConfig ignoreOverrun(boolean ignore) {
    return new CompletionQueueConfig(
        entries, channel, vector, fields, parentDomain, ignore, singleThreaded, access);
  }

  /**
   * Returns a copy with another {@link #singleThreaded()}.
   *
   * <p>The first thread that polls a single-threaded queue owns all {@link Completions} of it that
   * it uses. Another thread can poll after the owner has released them, and gets an
   * IllegalStateException until then. Any thread may still resize and close the queue, and create,
   * change and close queue pairs that use it; polls wait meanwhile.
   *
   * @param single whether one thread at a time polls the queue. A device whose provider does not
   *     know the flag refuses it, or keeps its lock
   * @return the copy
   */
  public CompletionQueueConfig singleThreaded(boolean single) {
    return new CompletionQueueConfig(
        entries, channel, vector, fields, parentDomain, ignoreOverrun, single, access);
  }

  /**
   * Returns a copy with another {@link #access()}.
   *
   * @param access how the queue is polled, and how requests are posted to the queue pairs whose
   *     requests complete there. Other values than BY_PROVIDER are experimental, see {@link
   *     QueueAccess}
   * @return the copy
   */
  public CompletionQueueConfig access(QueueAccess access) {
    return new CompletionQueueConfig(
        entries, channel, vector, fields, parentDomain, ignoreOverrun, singleThreaded, access);
  }

  /** Throws IllegalArgumentException if something needs an extended queue, and this is none. */
  void check(RdmaDevice device) {
    if (fields == null && (parentDomain != null || ignoreOverrun || singleThreaded)) {
      String name = ignoreOverrun ? "ignoreOverrun" : "parentDomain";
      throw new IllegalArgumentException(
          (singleThreaded ? "singleThreaded" : name)
              + " is set, must not be set for a plain queue; call extended");
    }
    if (fields != null && fields.contains(CompletionField.SOURCE_GID)) {
      ReliableDatagrams.require(EfaCapability.SOURCE_GID, device);
    }
    if (parentDomain != null) {
      SameDevice.check("parent domain", parentDomain.device(), device);
    }
  }
}
