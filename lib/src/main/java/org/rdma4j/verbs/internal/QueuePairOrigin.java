package org.rdma4j.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.QueuePairState;

/**
 * How a native queue pair is created and destroyed.
 *
 * @param call the C function, for messages
 * @param create creates the queue pair from a {@code struct ibv_qp_init_attr_ex}; returns NULL and
 *     sets errno if it fails
 * @param destroy destroys the queue pair
 * @param state the state of the queue pair after its creation
 * @param dependsOn what the queue pair depends on, besides its domain and its queues; all of it
 *     must be open during the creation
 */
public record QueuePairOrigin(
    String call,
    UnaryOperator<MemorySegment> create,
    Consumer<MemorySegment> destroy,
    QueuePairState state,
    List<Lifetime> dependsOn) {}
