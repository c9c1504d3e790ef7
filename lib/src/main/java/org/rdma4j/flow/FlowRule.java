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
 * Which packets are steered to a queue pair: {@code struct ibv_flow_attr}. Immutable; each method
 * that takes a value returns a changed copy.
 *
 * @param type which packets it is about; default NORMAL
 * @param port the port that they come by, from 1
 * @param priority which of several rules holds for a packet, the lowest number; 0 to 65535, default
 *     0
 * @param flags what it does besides; default nothing
 * @param specifications what packets must be like, from the outer headers to the inner ones, and
 *     what is done with them; at most 255, default none
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
   * @throws IllegalArgumentException where a number is out of its range
   */
  public FlowRule {
    Range.check("port", port, 1, 0xff);
    Range.check("priority", priority, 0, 0xffff);
    Range.check("number of specifications", specifications.size(), 0, 0xff);
    flags = Set.copyOf(flags);
    specifications = List.copyOf(specifications);
  }

  /**
   * A rule for the packets that the specifications describe.
   *
   * @param port the port that they come by, from 1
   * @param specifications what they must be like, and what is done with them
   * @return the rule, everything else at its default
   * @throws IllegalArgumentException where the port is out of its range
   */
  public static FlowRule of(int port, FlowSpecification... specifications) {
    return new FlowRule(FlowRuleType.NORMAL, port, 0, Set.of(), List.of(specifications));
  }

  /**
   * A copy of another {@link #type()}.
   *
   * @param type which packets it is about
   * @return the copy
   */
  public FlowRule type(FlowRuleType type) {
    return new FlowRule(type, port, priority, flags, specifications);
  }

  /**
   * A copy with another {@link #priority()}.
   *
   * @param priority which of several rules holds for a packet, 0 to 65535
   * @return the copy
   * @throws IllegalArgumentException where the priority is out of its range
   */
  public FlowRule priority(int priority) {
    return new FlowRule(type, port, priority, flags, specifications);
  }

  /**
   * A copy with other {@link #flags()}.
   *
   * @param flags what it does besides
   * @return the copy
   */
  public FlowRule flags(FlowFlag... flags) {
    return new FlowRule(type, port, priority, Set.of(flags), specifications);
  }

  /** Refuses what is not of the device. */
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

  /** The lives that a flow of the queue pair lies within. */
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
