package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_rwq_ind_table_init_attr;
import org.rdma4j.bindings.inlines.WorkQueues;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.SameDevice;

/**
 * A table of work queues, {@code struct ibv_rwq_ind_table}. Receive side scaling spreads packets
 * over the entries of the table by a hash of the packet, see {@link ReceiveHash}.
 *
 * <p>All methods may be called from any thread. Closing a work queue closes the tables that contain
 * it.
 *
 * @see WorkQueue
 * @see ReceiveHash
 * @see RdmaDevice#createIndirectionTable
 */
public final class IndirectionTable implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment table;
  private final Lifetime lifetime;

  private IndirectionTable(RdmaDevice device, List<WorkQueue> queues, MemorySegment table) {
    this.device = device;
    this.table = table;
    DeviceInfo info = device.info();
    this.lifetime =
        new Lifetime(
            "indirection table of " + queues.size() + " work queues of " + info.name(),
            () ->
                NativeFailures.check(
                    info.name(),
                    "ibv_destroy_rwq_ind_table",
                    Math.abs(WorkQueues.ibv_destroy_rwq_ind_table(table))),
            Stream.concat(
                    Stream.of(device.lifetime()),
                    queues.stream().map(WorkQueue::lifetime).distinct())
                .toArray(Lifetime[]::new));
    Leaks.watch(this, lifetime);
  }

  static IndirectionTable create(RdmaDevice device, List<WorkQueue> queues) {
    if (Integer.bitCount(queues.size()) != 1) {
      throw new IllegalArgumentException(
          "the number of work queues is " + queues.size() + ", must be a power of two");
    }
    for (WorkQueue queue : queues) {
      SameDevice.check("work queue", queue.domain().device(), device);
    }
    return Lifetime.whileAllOpen(
        Stream.concat(Stream.of(device.lifetime()), queues.stream().map(WorkQueue::lifetime))
            .toList(),
        () -> createWhileOpen(device, queues));
  }

  private static IndirectionTable createWhileOpen(RdmaDevice device, List<WorkQueue> queues) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entries = arena.allocate(ADDRESS, queues.size());
      for (int i = 0; i < queues.size(); i++) {
        entries.setAtIndex(ADDRESS, i, queues.get(i).pointer());
      }
      MemorySegment init = arena.allocate(ibv_rwq_ind_table_init_attr.layout());
      ibv_rwq_ind_table_init_attr.log_ind_tbl_size(
          init, Integer.numberOfTrailingZeros(queues.size()));
      ibv_rwq_ind_table_init_attr.ind_tbl(init, entries);
      return new IndirectionTable(
          device,
          queues,
          NativeFailures.created(
              device.info().name(),
              "ibv_create_rwq_ind_table(" + queues.size() + " entries)",
              WorkQueues.ibv_create_rwq_ind_table(device.context(), init)));
    }
  }

  /**
   * Returns the device that this belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_rwq_ind_table *}, for use with the bindings. It is valid
   * until this object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> table);
  }

  /**
   * Closes the queue pairs that use this table, then destroys the table: {@code
   * ibv_destroy_rwq_ind_table}. Does nothing if it is already closed.
   *
   * @throws RdmaException if a destruction failed; everything else was closed
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return table;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
