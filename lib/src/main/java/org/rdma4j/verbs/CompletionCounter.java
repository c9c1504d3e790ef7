package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_comp_cntr_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;

/**
 * A completion counter, {@code struct ibv_comp_cntr}: the device counts how much has completed, and
 * how much has failed, instead of describing each completion. {@link QueuePair#attach} says which
 * operations of which queue pairs it counts.
 *
 * <p>All numbers are unsigned. All methods may be called from any thread.
 *
 * @see RdmaDevice#createCompletionCounter
 * @see RdmaDevice#completionCounters
 */
public final class CompletionCounter implements AutoCloseable {
  private static final int VERSION = 65;

  private final RdmaDevice device;
  private final MemorySegment counter;
  private final Lifetime lifetime;

  private CompletionCounter(RdmaDevice device, MemorySegment counter) {
    this.device = device;
    this.counter = counter;
    String name = device.info().name();
    this.lifetime =
        new Lifetime(
            "completion counter of " + name,
            () ->
                NativeFailures.check(
                    name, "ibv_destroy_comp_cntr", rdma_h.ibv_destroy_comp_cntr(counter)),
            device.lifetime());
    Leaks.watch(this, lifetime);
  }

  static CompletionCounter create(RdmaDevice device, CompletionCounterType type) {
    String name = device.info().name();
    return device
        .lifetime()
        .whileOpen(
            () -> {
              NativeFailures.requireFunction(name, "ibv_create_comp_cntr", VERSION);
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment init = arena.allocate(ibv_comp_cntr_init_attr.layout());
                ibv_comp_cntr_init_attr.type(init, type.value());
                return new CompletionCounter(
                    device,
                    NativeFailures.created(
                        name,
                        "ibv_create_comp_cntr(" + type + ")",
                        Calls.pointer(
                            rdma_h.ibv_create_comp_cntr$address(), device.context(), init)));
              }
            });
  }

  /**
   * Reads how much has completed: {@code ibv_read_comp_cntr}.
   *
   * @return the number of requests or bytes
   * @throws RdmaException if it cannot be read
   */
  public long completed() {
    return read("ibv_read_comp_cntr", rdma_h::ibv_read_comp_cntr);
  }

  /**
   * Reads how many requests have failed: {@code ibv_read_err_comp_cntr}.
   *
   * @return the number
   * @throws RdmaException if it cannot be read
   */
  public long failed() {
    return read("ibv_read_err_comp_cntr", rdma_h::ibv_read_err_comp_cntr);
  }

  /**
   * Sets the number that {@link #completed} returns: {@code ibv_set_comp_cntr}.
   *
   * @param value the number
   * @throws RdmaException if the device refuses it
   */
  public void setCompleted(long value) {
    change("ibv_set_comp_cntr", rdma_h::ibv_set_comp_cntr, value);
  }

  /**
   * Sets the number that {@link #failed} returns: {@code ibv_set_err_comp_cntr}.
   *
   * @param value the number
   * @throws RdmaException if the device refuses it
   */
  public void setFailed(long value) {
    change("ibv_set_err_comp_cntr", rdma_h::ibv_set_err_comp_cntr, value);
  }

  /**
   * Adds to the number that {@link #completed} returns: {@code ibv_inc_comp_cntr}.
   *
   * @param amount what to add
   * @throws RdmaException if the device refuses it
   */
  public void addCompleted(long amount) {
    change("ibv_inc_comp_cntr", rdma_h::ibv_inc_comp_cntr, amount);
  }

  /**
   * Adds to the number that {@link #failed} returns: {@code ibv_inc_err_comp_cntr}.
   *
   * @param amount what to add
   * @throws RdmaException if the device refuses it
   */
  public void addFailed(long amount) {
    change("ibv_inc_err_comp_cntr", rdma_h::ibv_inc_err_comp_cntr, amount);
  }

  private interface Read {
    int into(MemorySegment counter, MemorySegment value);
  }

  private interface Change {
    int by(MemorySegment counter, long value);
  }

  private long read(String function, Read read) {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(ValueLayout.JAVA_LONG);
            NativeFailures.check(device.info().name(), function, read.into(counter, value));
            return value.get(ValueLayout.JAVA_LONG, 0);
          }
        });
  }

  private void change(String function, Change change, long value) {
    lifetime.whileOpen(
        () -> {
          NativeFailures.check(device.info().name(), function, change.by(counter, value));
          return this;
        });
  }

  /**
   * Returns the device that this counter belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_comp_cntr *}, for use with the bindings. It is valid until
   * this object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> counter);
  }

  /**
   * Closes the queue pairs that use the counter, because nothing else detaches them, then destroys
   * it: {@code ibv_destroy_comp_cntr}. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction of an object fails; all others are destroyed all the
   *     same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return counter;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
