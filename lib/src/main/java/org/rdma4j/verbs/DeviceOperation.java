package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.Library;
import org.rdma4j.bindings.generated.ibv_comp_cntr_caps;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_context_ops;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.verbs_context;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.platform.Libc;
import org.rdma4j.verbs.attribute.DeviceCapability;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;

/**
 * An operation that not every device supports. {@link RdmaDevice#supports} says whether a device
 * supports it.
 *
 * <p>Some calls are not listed here, because only the call itself shows whether the device supports
 * it: {@code ibv_create_cq_ex}, {@code ibv_reg_dmabuf_mr}, {@code ibv_import_device}, {@code
 * ibv_set_ece}, {@code ibv_query_port_speed}. What an extended queue pair can post, such as
 * flushes, its creation shows.
 *
 * @see RdmaDevice#supports
 * @see org.rdma4j.UnsupportedByDeviceException
 */
public enum DeviceOperation {
  /** Giving advice about the memory that will be accessed: {@code ibv_advise_mr}. */
  ADVISE_MEMORY_REGION(Table.VERBS_CONTEXT, verbs_context.advise_mr$offset()),
  /** Changing the registration of a memory region: {@code ibv_rereg_mr}. */
  REREGISTER_MEMORY_REGION(Table.CONTEXT_OPS, ibv_context_ops._compat_rereg_mr$offset()),
  /** A memory region that discards everything written to it: {@code ibv_alloc_null_mr}. */
  ALLOCATE_NULL_MEMORY_REGION(Table.VERBS_CONTEXT, verbs_context.alloc_null_mr$offset()),
  /** Memory on the device: {@code ibv_alloc_dm}. */
  ALLOCATE_DEVICE_MEMORY(Table.VERBS_CONTEXT, verbs_context.alloc_dm$offset()),
  /** Memory windows: {@code ibv_alloc_mw}. */
  ALLOCATE_MEMORY_WINDOW(Table.CONTEXT_OPS, ibv_context_ops.alloc_mw$offset()),
  /** Binding a memory window of type 1: {@code ibv_bind_mw}. */
  BIND_MEMORY_WINDOW(Table.CONTEXT_OPS, ibv_context_ops.bind_mw$offset()),
  /** Memory regions whose pages are not pinned: {@code IBV_ACCESS_ON_DEMAND}. */
  PAGE_ON_DEMAND(Table.NONE, 0),
  /** Resizing a completion queue: {@code ibv_resize_cq}. */
  RESIZE_COMPLETION_QUEUE(Table.CONTEXT_OPS, ibv_context_ops._compat_resize_cq$offset()),
  /** Moderating the events of a completion queue: {@code ibv_modify_cq}. */
  MODERATE_COMPLETION_QUEUE(Table.VERBS_CONTEXT, verbs_context.modify_cq$offset()),
  /** Shared receive queues: {@code ibv_create_srq}. */
  CREATE_SHARED_RECEIVE_QUEUE(Table.CONTEXT_OPS, ibv_context_ops._compat_create_srq$offset()),
  /** Shared receive queues with extended attributes: {@code ibv_create_srq_ex}. */
  CREATE_EXTENDED_SHARED_RECEIVE_QUEUE(Table.VERBS_CONTEXT, verbs_context.create_srq_ex$offset()),
  /** Matching tagged messages: {@code ibv_post_srq_ops}. */
  MATCH_TAGS(Table.VERBS_CONTEXT, verbs_context.post_srq_ops$offset()),
  /** Queue pairs with extended attributes: {@code ibv_create_qp_ex}. */
  CREATE_EXTENDED_QUEUE_PAIR(Table.VERBS_CONTEXT, verbs_context.create_qp_ex$offset()),
  /**
   * Opening an XRC queue pair that another context created: {@code ibv_open_qp}. Not on mlx5, whose
   * provider ends the process when such a queue pair is destroyed.
   */
  OPEN_QUEUE_PAIR(Table.VERBS_CONTEXT, verbs_context.open_qp$offset()),
  /** Limiting the rate of a queue pair: {@code ibv_modify_qp_rate_limit}. */
  LIMIT_RATE(Table.VERBS_CONTEXT, verbs_context.modify_qp_rate_limit$offset()),
  /** XRC domains: {@code ibv_open_xrcd}. */
  OPEN_XRC_DOMAIN(Table.VERBS_CONTEXT, verbs_context.open_xrcd$offset()),
  /** Multicast groups: {@code ibv_attach_mcast}. */
  ATTACH_MULTICAST(Table.CONTEXT_OPS, ibv_context_ops._compat_attach_mcast$offset()),
  /** Thread domains: {@code ibv_alloc_td}. */
  ALLOCATE_THREAD_DOMAIN(Table.VERBS_CONTEXT, verbs_context.alloc_td$offset()),
  /** Parent domains: {@code ibv_alloc_parent_domain}. */
  ALLOCATE_PARENT_DOMAIN(Table.VERBS_CONTEXT, verbs_context.alloc_parent_domain$offset()),
  /** Work queues: {@code ibv_create_wq}. */
  CREATE_WORK_QUEUE(Table.VERBS_CONTEXT, verbs_context.create_wq$offset()),
  /** Indirection tables of work queues: {@code ibv_create_rwq_ind_table}. */
  CREATE_INDIRECTION_TABLE(Table.VERBS_CONTEXT, verbs_context.create_rwq_ind_table$offset()),
  /** Steering packets: {@code ibv_create_flow}. */
  CREATE_FLOW(Table.VERBS_CONTEXT, verbs_context.ibv_create_flow$offset()),
  /** Encrypting and decrypting steered IPsec packets: {@code ibv_create_flow_action_esp}. */
  CREATE_ESP_FLOW_ACTION(Table.VERBS_CONTEXT, verbs_context.create_flow_action_esp$offset()),
  /** Counters: {@code ibv_create_counters}. */
  CREATE_COUNTERS(Table.VERBS_CONTEXT, verbs_context.create_counters$offset()),
  /** Reading the clock of the device: {@code ibv_query_rt_values_ex}. */
  READ_CLOCK(Table.VERBS_CONTEXT, verbs_context.query_rt_values$offset()),
  /** DMA handles: {@code ibv_alloc_dmah}, since rdma-core 59. */
  ALLOCATE_DMA_HANDLE(Table.VERBS_CONTEXT, verbs_context.alloc_dmah$offset()),
  /** Exporting device memory: {@code ibv_dm_export_dmabuf_fd}, since rdma-core 62. */
  EXPORT_DEVICE_MEMORY(Table.VERBS_CONTEXT, verbs_context.dm_export_dmabuf_fd$offset()),
  /** Completion counters: {@code ibv_create_comp_cntr}, since rdma-core 65. */
  CREATE_COMPLETION_COUNTER(Table.COUNTERS, 0);

  /** The struct that contains the pointer to the provider's function. */
  private enum Table {
    NONE,
    CONTEXT_OPS,
    VERBS_CONTEXT,
    /** None that can be seen; the number of counters shows it. */
    COUNTERS
  }

  private final Table table;
  private final long offset;

  DeviceOperation(Table table, long offset) {
    this.table = table;
    this.offset = offset;
  }

  boolean isSupported(MemorySegment context, ExtendedDeviceAttributes attributes) {
    return isAllowed(attributes)
        && isImplemented(context)
        && !(this == OPEN_QUEUE_PAIR && cannotDestroyOpenedQueuePairs(context));
  }

  /**
   * Returns whether the provider ends the process when a queue pair of {@code ibv_open_qp} is
   * destroyed. libmlx5 does, up to rdma-core 65 at least: {@code mlx5_destroy_qp} frees a doorbell
   * record, which such a queue pair does not have.
   */
  static boolean cannotDestroyOpenedQueuePairs(MemorySegment context) {
    MemorySegment operations = Verbs.verbs_get_ctx_op(context, OPEN_QUEUE_PAIR.offset);
    return operations.address() != 0
        && Libc.dladdr(OPEN_QUEUE_PAIR.function(operations)).object().contains("/libmlx5");
  }

  private boolean isAllowed(ExtendedDeviceAttributes attributes) {
    return switch (this) {
      case ALLOCATE_DEVICE_MEMORY, EXPORT_DEVICE_MEMORY -> attributes.maxDeviceMemory() != 0;
      case ALLOCATE_MEMORY_WINDOW, BIND_MEMORY_WINDOW -> attributes.basic().maxMemoryWindows() > 0;
      case PAGE_ON_DEMAND -> attributes.onDemandPaging().supported();
      case MODERATE_COMPLETION_QUEUE -> attributes.completionModeration().maxCount() > 0;
      case CREATE_SHARED_RECEIVE_QUEUE, CREATE_EXTENDED_SHARED_RECEIVE_QUEUE ->
          attributes.basic().maxSharedReceiveQueues() > 0;
      case MATCH_TAGS -> attributes.tagMatching().maxTags() > 0;
      case LIMIT_RATE -> attributes.packetPacing().maxRate() > 0;
      case OPEN_XRC_DOMAIN -> attributes.capabilities().contains(DeviceCapability.XRC);
      case ATTACH_MULTICAST -> attributes.basic().maxMulticastGroups() > 0;
      case CREATE_WORK_QUEUE -> attributes.maxReceiveWorkQueues() > 0;
      case CREATE_INDIRECTION_TABLE -> attributes.receiveSideScaling().maxIndirectionTables() > 0;
      case ADVISE_MEMORY_REGION,
          REREGISTER_MEMORY_REGION,
          ALLOCATE_NULL_MEMORY_REGION,
          RESIZE_COMPLETION_QUEUE,
          CREATE_EXTENDED_QUEUE_PAIR,
          OPEN_QUEUE_PAIR,
          ALLOCATE_THREAD_DOMAIN,
          ALLOCATE_PARENT_DOMAIN,
          CREATE_FLOW,
          CREATE_ESP_FLOW_ACTION,
          CREATE_COUNTERS,
          READ_CLOCK,
          ALLOCATE_DMA_HANDLE,
          CREATE_COMPLETION_COUNTER ->
          true;
    };
  }

  private boolean isImplemented(MemorySegment context) {
    return switch (table) {
      case NONE -> true;
      case COUNTERS -> hasCompletionCounters(context);
      case CONTEXT_OPS -> isOfProvider(ibv_context.ops(context));
      case VERBS_CONTEXT -> {
        MemorySegment extended = Verbs.verbs_get_ctx_op(context, offset);
        yield extended.address() != 0 && isOfProvider(extended);
      }
    };
  }

  private static boolean hasCompletionCounters(MemorySegment context) {
    if (!Library.contains("_ibv_query_comp_cntr_caps")) {
      return false;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment caps = arena.allocate(ibv_comp_cntr_caps.layout());
      return Verbs.ibv_query_comp_cntr_caps(context, caps) == 0
          && ibv_comp_cntr_caps.max_counters(caps) != 0;
    }
  }

  private long function(MemorySegment pointers) {
    return pointers.get(rdma_h.C_POINTER, offset).address();
  }

  /**
   * Returns whether the function belongs to the provider. If a provider lacks an operation, the
   * pointer is not NULL: libibverbs puts in a function of its own that refuses the call. Those
   * functions are static. So an address in libibverbs that is not an exported symbol is one of
   * them.
   */
  private boolean isOfProvider(MemorySegment pointers) {
    long function = function(pointers);
    Libc.SymbolInfo info = Libc.dladdr(function);
    Libc.SymbolInfo library = Libc.dladdr(rdma_h.ibv_open_device$address().address());
    return function != 0
        && (info.objectBase() != library.objectBase() || info.symbol() == function);
  }
}
