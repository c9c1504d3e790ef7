package org.rdma4j.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.IndirectionTable;
import org.rdma4j.verbs.Loopback;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.WorkQueue;
import org.rdma4j.verbs.WorkQueueConfig;
import org.rdma4j.verbs.WorkQueueState;

/** Flow rules, counters and work queues, which soft-RoCE refuses, are accepted and freed. */
@Tag("mlx5")
final class AdapterFlowsTest {
  private RdmaDevice device;
  private ProtectionDomain domain;
  private CompletionQueue completions;
  private QueuePair datagrams;

  @BeforeEach
  void create() {
    device = Loopback.openDevice();
    domain = device.allocateProtectionDomain();
    completions = device.createCompletionQueue(64);
    datagrams = domain.createQueuePair(QueuePairConfig.datagram(completions));
  }

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void theCountersOfARuleAreRead() {
    try (Counters counters = Counters.create(device)) {
      counters.attach(CounterType.PACKETS, 0);
      counters.attach(CounterType.BYTES, 1);
      try (Flow flow =
          Flow.create(datagrams, FlowRule.of(1, new FlowSpecification.Count(counters)))) {
        assertThat(flow.queuePair()).isEqualTo(datagrams);
        assertThat(counters.read(2, false)).containsExactly(0, 0);
      }
    }
  }

  @Test
  void theKeysOfAnActionAreReplaced() {
    EspConfig encryption =
        EspConfig.of(1, EspFlag.ENCRYPT).key(new AesGcmKey(new byte[16], 1, 2, 16));
    try (FlowAction action = FlowAction.create(device, encryption)) {
      action.modify(EspConfig.of(1));
    }
  }

  @Test
  void aRuleForAConnectionIsRefused() {
    QueuePair connection = domain.createQueuePair(QueuePairConfig.reliable(completions));
    FlowRule rule = FlowRule.of(1, new FlowSpecification.Drop());
    assertThatThrownBy(() -> Flow.create(connection, rule))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ibv_create_flow");
  }

  @Test
  void aWorkQueueBecomesReadyTakesReceivesAndIsSpreadOver() {
    try (WorkQueue queue = domain.createWorkQueue(WorkQueueConfig.of(completions, 8))) {
      queue.modify(WorkQueueState.READY);
      assertThat(queue.state()).isEqualTo(WorkQueueState.READY);
      assertThat(queue.number()).isPositive();
      assertThat(
              queue
                  .receiveRequests(1)
                  .add(1)
                  .into(domain.register(64, AccessFlag.LOCAL_WRITE), 0, 64)
                  .post())
          .isEqualTo(1);
      try (IndirectionTable table = device.createIndirectionTable(queue, queue)) {
        assertThat(table.device()).isEqualTo(device);
      }
    }
  }
}
