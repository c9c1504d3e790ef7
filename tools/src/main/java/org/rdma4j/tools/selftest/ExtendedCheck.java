package org.rdma4j.tools.selftest;

import org.rdma4j.verbs.CompletionField;
import org.rdma4j.verbs.SendOperation;

/** Posts requests of all kinds with {@code ibv_wr_*}, and polls an extended completion queue. */
final class ExtendedCheck implements SelfCheck {
  private static final SendOperation[] OPERATIONS = {
    SendOperation.SEND, SendOperation.SEND_WITH_IMMEDIATE, SendOperation.WRITE, SendOperation.READ
  };

  @Override
  public String name() {
    return "extended queues";
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair pair =
        LoopedPair.connect(
            tested,
            queues ->
                queues.extended(
                    CompletionField.BYTE_LENGTH,
                    CompletionField.IMMEDIATE,
                    CompletionField.QUEUE_PAIR_NUMBER),
            pairs -> pairs.extended(OPERATIONS))) {
      RequestTrial trial = new RequestTrial(pair);
      for (RequestKind kind : RequestKind.values()) {
        if (!kind.isAtomic()) {
          trial.run(kind, tested.count());
        }
      }
    }
    return "%d requests of each kind but atomics".formatted(tested.count());
  }
}
