package org.rdma4j.tools.selftest;

import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.PortState;

/** Queries the device and its ports: the port that is used must be active. */
final class QueryCheck implements SelfCheck {
  @Override
  public String name() {
    return "query";
  }

  @Override
  public String run(TestedDevice tested) {
    try (RdmaDevice device = tested.open()) {
      DeviceAttributes attributes = device.attributes();
      if (tested.port() > attributes.ports()) {
        throw new Failure(
            "-i is %d, must be from 1 to %d, the number of ports"
                .formatted(tested.port(), attributes.ports()));
      }
      PortState state = device.port(tested.port()).attributes().state();
      if (state != PortState.ACTIVE && state != PortState.ACTIVE_DEFER) {
        throw new Failure(
            "port %d is in state %s, must be ACTIVE; check its cable or its network interface"
                .formatted(tested.port(), state));
      }
      return "%d queue pairs of %d requests, completion queues of %d, %d vectors, atomics %s"
          .formatted(
              attributes.maxQueuePairs(),
              attributes.maxWorkRequests(),
              attributes.maxCompletionQueueEntries(),
              device.completionVectors(),
              attributes.atomicCapability());
    }
  }
}
