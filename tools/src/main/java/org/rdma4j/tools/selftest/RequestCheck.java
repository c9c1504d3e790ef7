package org.rdma4j.tools.selftest;

/**
 * Posts requests of one kind, one after the other.
 *
 * @param kind the kind
 */
record RequestCheck(RequestKind kind) implements SelfCheck {
  @Override
  public String name() {
    return kind.text();
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair pair = LoopedPair.connect(tested)) {
      RequestTrial.Times times = new RequestTrial(pair).run(kind, tested.count());
      return "%d requests, medians %d ns to post, %d ns to the completion"
          .formatted(tested.count(), times.postNanos(), times.doneNanos());
    }
  }
}
