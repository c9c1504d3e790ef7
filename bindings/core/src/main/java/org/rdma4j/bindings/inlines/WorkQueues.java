package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_rwq_ind_table;
import org.rdma4j.bindings.generated.ibv_wq;
import org.rdma4j.bindings.generated.ibv_wq_init_attr;
import org.rdma4j.bindings.generated.verbs_context;

/** The static inline functions of verbs.h for work queues and their indirection tables. */
public final class WorkQueues {
  private WorkQueues() {}

  private static final class Pthread {
    static final MemorySegment MUTEX_INIT = find("pthread_mutex_init");
    static final MemorySegment COND_INIT = find("pthread_cond_init");

    private static MemorySegment find(String name) {
      return Linker.nativeLinker().defaultLookup().find(name).orElseThrow();
    }
  }

  /**
   * {@code ibv_create_wq}: returns NULL and sets {@link Errno} on failure. This method initializes
   * the fields by which the library waits for acknowledgements of events, because the operation of
   * the provider does not.
   */
  public static MemorySegment ibv_create_wq(MemorySegment context, MemorySegment wq_init_attr) {
    MemorySegment wq =
        Verbs.create(
            Verbs.operation(context, verbs_context.create_wq$offset()), context, wq_init_attr);
    if (wq.address() != 0) {
      ibv_wq.wq_context(wq, ibv_wq_init_attr.wq_context(wq_init_attr));
      wq.set(JAVA_INT, ibv_wq.events_completed$offset() + Verbs.MUTEX_GROWTH, 0);
      int errno = Errno.errno();
      Calls.integer(Pthread.MUTEX_INIT, ibv_wq.mutex(wq), MemorySegment.NULL);
      Calls.integer(
          Pthread.COND_INIT,
          wq.asSlice(ibv_wq.cond$offset() + Verbs.MUTEX_GROWTH),
          MemorySegment.NULL);
      Errno.errno(errno);
    }
    return wq;
  }

  /** {@code ibv_modify_wq}: returns 0 or the errno value. */
  public static int ibv_modify_wq(MemorySegment wq, MemorySegment wq_attr) {
    return Verbs.call(
        Verbs.operation(ibv_wq.context(wq), verbs_context.modify_wq$offset()), wq, wq_attr);
  }

  /** {@code ibv_destroy_wq}: returns 0 or the errno value. */
  public static int ibv_destroy_wq(MemorySegment wq) {
    return Verbs.call(Verbs.operation(ibv_wq.context(wq), verbs_context.destroy_wq$offset()), wq);
  }

  /** {@code ibv_create_rwq_ind_table}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_create_rwq_ind_table(
      MemorySegment context, MemorySegment init_attr) {
    return Verbs.create(
        Verbs.operation(context, verbs_context.create_rwq_ind_table$offset()), context, init_attr);
  }

  /** {@code ibv_destroy_rwq_ind_table}: returns 0 or the errno value. */
  public static int ibv_destroy_rwq_ind_table(MemorySegment rwq_ind_table) {
    return Verbs.call(
        Verbs.operation(
            ibv_rwq_ind_table.context(rwq_ind_table), verbs_context.destroy_rwq_ind_table$offset()),
        rwq_ind_table);
  }
}
