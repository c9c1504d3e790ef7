package org.rdma4j.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.QueuePairState;

/**
 * Who makes a native queue pair, and destroys it.
 *
 * @param call the C function, for messages
 * @param create makes it of a {@code struct ibv_qp_init_attr_ex}; NULL and errno where it cannot
 * @param destroy destroys it
 * @param state the state that it is in once it was made
 * @param dependsOn what it depends on beside its domain and its queues, open during the creation
 */
public record QueuePairOrigin(
    String call,
    UnaryOperator<MemorySegment> create,
    Consumer<MemorySegment> destroy,
    QueuePairState state,
    List<Lifetime> dependsOn) {}
