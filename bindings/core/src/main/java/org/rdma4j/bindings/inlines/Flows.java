package org.rdma4j.bindings.inlines;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_counters;
import org.rdma4j.bindings.generated.ibv_flow;
import org.rdma4j.bindings.generated.ibv_flow_action;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.verbs_context;

/** The static inline functions of verbs.h for flow steering, and for counters of its packets. */
public final class Flows {
  private static final int EOPNOTSUPP = 95;

  private Flows() {}

  /** {@code ibv_create_flow}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_create_flow(MemorySegment qp, MemorySegment flow) {
    return Verbs.create(
        Verbs.operation(ibv_qp.context(qp), verbs_context.ibv_create_flow$offset()), qp, flow);
  }

  /** {@code ibv_destroy_flow}: returns 0 or the errno value. */
  public static int ibv_destroy_flow(MemorySegment flow_id) {
    return Verbs.call(
        Verbs.operation(ibv_flow.context(flow_id), verbs_context.ibv_destroy_flow$offset()),
        flow_id);
  }

  /** {@code ibv_create_flow_action_esp}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_create_flow_action_esp(MemorySegment ctx, MemorySegment esp) {
    return Verbs.create(
        Verbs.operation(ctx, verbs_context.create_flow_action_esp$offset()), ctx, esp);
  }

  /** {@code ibv_modify_flow_action_esp}: returns 0 or the errno value. */
  public static int ibv_modify_flow_action_esp(MemorySegment action, MemorySegment esp) {
    return Verbs.call(
        Verbs.operation(
            ibv_flow_action.context(action), verbs_context.modify_flow_action_esp$offset()),
        action,
        esp);
  }

  /** {@code ibv_destroy_flow_action}: returns 0 or the errno value. */
  public static int ibv_destroy_flow_action(MemorySegment action) {
    return Verbs.call(
        Verbs.operation(
            ibv_flow_action.context(action), verbs_context.destroy_flow_action$offset()),
        action);
  }

  /** {@code ibv_create_counters}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_create_counters(MemorySegment context, MemorySegment init_attr) {
    return Verbs.create(
        Verbs.operation(context, verbs_context.create_counters$offset()), context, init_attr);
  }

  /** {@code ibv_destroy_counters}: returns 0 or the errno value. */
  public static int ibv_destroy_counters(MemorySegment counters) {
    return Verbs.call(
        Verbs.operation(ibv_counters.context(counters), verbs_context.destroy_counters$offset()),
        counters);
  }

  /** {@code ibv_attach_counters_point_flow}: returns 0 or the errno value. */
  public static int ibv_attach_counters_point_flow(
      MemorySegment counters, MemorySegment attr, MemorySegment flow) {
    return Verbs.call(
        Verbs.operation(
            ibv_counters.context(counters), verbs_context.attach_counters_point_flow$offset()),
        counters,
        attr,
        flow);
  }

  /** {@code ibv_read_counters}: returns 0 or the errno value. */
  public static int ibv_read_counters(
      MemorySegment counters, MemorySegment counters_value, int ncounters, int flags) {
    MemorySegment operation =
        Verbs.operation(ibv_counters.context(counters), verbs_context.read_counters$offset());
    return operation.address() == 0
        ? EOPNOTSUPP
        : verbs_context.read_counters.invoke(operation, counters, counters_value, ncounters, flags);
  }
}
