package org.rdma4j.flow;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * A rule that says which packets are steered to a queue pair: {@code struct ibv_flow_attr}.
 * Immutable: a method that takes a value returns a changed copy.
 *
 * @param type the packets that the rule applies to; default NORMAL
 * @param port the port where the packets arrive, from 1
 * @param priority the priority, 0 to 65535; if several rules match a packet, the one with the
 *     lowest number applies; default 0
 * @param flags the flags; default none
 * @param specifications what the headers of the packets must match, from the outer headers to the
 *     inner ones, and what is done with the packets; up to 255, default none
 * @see Flow#create
 * @see FlowSpecification
 */
public record FlowRule(
    FlowRuleType type,
    int port,
    int priority,
    Set<FlowFlag> flags,
    List<FlowSpecification> specifications) {
  /**
   * Copies the collections and checks the ranges.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public FlowRule {
    Range.check("port", port, 1, 0xff);
    Range.check("priority", priority, 0, 0xffff);
    Range.check("number of specifications", specifications.size(), 0, 0xff);
    flags = Set.copyOf(flags);
    specifications = List.copyOf(specifications);
  }

  /**
   * Returns a rule for the packets that the specifications describe.
   *
   * @param port the port where the packets arrive, from 1
   * @param specifications what the headers of the packets must match, and what is done with the
   *     packets
   * @return the rule; everything else has its default
   * @throws IllegalArgumentException if the port is out of its range, or there are more than 255
   *     specifications
   */
  public static FlowRule of(int port, FlowSpecification... specifications) {
    return new FlowRule(FlowRuleType.NORMAL, port, 0, Set.of(), List.of(specifications));
  }

  /**
   * Returns a copy with another {@link #type()}.
   *
   * @param type the packets that the rule applies to
   * @return the copy
   */
  public FlowRule type(FlowRuleType type) {
    return new FlowRule(type, port, priority, flags, specifications);
  }

  /**
   * Returns a copy with another {@link #priority()}.
   *
   * @param priority the priority, 0 to 65535
   * @return the copy
   * @throws IllegalArgumentException if the priority is out of its range
   */
  public FlowRule priority(int priority) {
    return new FlowRule(type, port, priority, flags, specifications);
  }

  /**
   * Returns a copy with other {@link #flags()}.
   *
   * @param flags the flags
   * @return the copy
   */
  public FlowRule flags(FlowFlag... flags) {
    return new FlowRule(type, port, priority, Set.of(flags), specifications);
  }

  /** Checks that the port, and everything that the rule names, belongs to the device. */
  void check(RdmaDevice device) {
    Range.check("port", port, 1, device.attributes().ports());
    for (FlowSpecification each : specifications) {
      if (each instanceof FlowSpecification.Encryption encryption) {
        SameDevice.check("flow action", encryption.action().device(), device);
      } else if (each instanceof FlowSpecification.Count count) {
        SameDevice.check("counters", count.counters().device(), device);
      }
    }
  }

  /** Returns the lifetimes that a flow of the queue pair depends on. */
  List<Lifetime> dependsOn(QueuePair queuePair) {
    return Stream.concat(
            Stream.of(VerbsAccess.get().lifetime(queuePair)),
            specifications.stream().flatMap(FlowRule::namedBy))
        .distinct()
        .toList();
  }

  private static Stream<Lifetime> namedBy(FlowSpecification specification) {
    if (specification instanceof FlowSpecification.Encryption encryption) {
      return Stream.of(encryption.action().lifetime());
    }
    return specification instanceof FlowSpecification.Count count
        ? Stream.of(count.counters().lifetime())
        : Stream.empty();
  }
}
