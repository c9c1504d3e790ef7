package org.rdma4j.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Flows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.QueuePair;

/**
 * A flow, {@code struct ibv_flow}: a rule in force that steers packets to a queue pair.
 *
 * <p>All methods may be called from any thread.
 *
 * @see FlowRule
 * @see Counters
 */
public final class Flow implements AutoCloseable {
  private final QueuePair queuePair;
  private final FlowRule rule;
  private final MemorySegment flow;
  private final Lifetime lifetime;

  private Flow(QueuePair queuePair, FlowRule rule, MemorySegment flow) {
    this.queuePair = queuePair;
    this.rule = rule;
    this.flow = flow;
    DeviceInfo device = queuePair.domain().device().info();
    this.lifetime =
        new Lifetime(
            "flow of " + device.name(),
            () ->
                NativeFailures.check(
                    device.name(), "ibv_destroy_flow", Math.abs(Flows.ibv_destroy_flow(flow))),
            rule.dependsOn(queuePair).toArray(Lifetime[]::new));
    Leaks.watch(this, lifetime);
  }

  /**
   * Steers packets that arrive at a port to a queue pair: {@code ibv_create_flow}. Linux requires
   * CAP_NET_RAW.
   *
   * @param queuePair the queue pair
   * @param rule the rule: which packets, and what else to do with them
   * @return the flow, which is closed with the queue pair
   * @throws IllegalArgumentException if the device does not have the port, or if what the rule
   *     names belongs to another device
   * @throws IllegalStateException if the queue pair, or what the rule names, is closed
   * @throws RdmaException if the device refuses it: EOPNOTSUPP if it does not support flows, EINVAL
   *     if it does not know a specification
   */
  public static Flow create(QueuePair queuePair, FlowRule rule) {
    DeviceInfo device = queuePair.domain().device().info();
    rule.check(queuePair.domain().device());
    return Lifetime.whileAllOpen(
        rule.dependsOn(queuePair),
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            return new Flow(
                queuePair,
                rule,
                NativeFailures.created(
                    device.name(),
                    "ibv_create_flow(" + rule.type() + ", port " + rule.port() + ")",
                    Flows.ibv_create_flow(queuePair.handle(), FlowBytes.of(rule, arena))));
          }
        });
  }

  /**
   * Returns the rule that is in force.
   *
   * @return the rule
   */
  public FlowRule rule() {
    return rule;
  }

  /**
   * Returns the queue pair that packets are steered to.
   *
   * @return the queue pair
   */
  public QueuePair queuePair() {
    return queuePair;
  }

  /**
   * Returns the native {@code struct ibv_flow *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> flow);
  }

  /**
   * Ends the steering: {@code ibv_destroy_flow}. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return flow;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
