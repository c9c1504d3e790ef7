package org.rdma4j.tools.selftest;

import org.rdma4j.verbs.QueueAccess;

/** Compares queues of mlx5 that are used in place with queues that libmlx5 uses. */
final class InPlaceCheck implements SelfCheck {
  @Override
  public String name() {
    return "queues in place";
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair inPlace = LoopedPair.connect(tested, QueueAccess.IN_PLACE);
        LoopedPair byProvider = LoopedPair.connect(tested)) {
      RequestTrial after = new RequestTrial(inPlace);
      RequestTrial before = new RequestTrial(byProvider);
      StringBuilder lines =
          new StringBuilder(
              "median nanoseconds by libmlx5 and in place, %d requests".formatted(tested.count()));
      for (RequestKind kind : RequestKind.values()) {
        RequestTrial.Times old = before.run(kind, tested.count());
        RequestTrial.Times now = after.run(kind, tested.count());
        lines.append(
            "\n%s: %d and %d to post, %d and %d to the completion"
                .formatted(
                    kind.text(),
                    old.postNanos(),
                    now.postNanos(),
                    old.doneNanos(),
                    now.doneNanos()));
      }
      return lines.toString();
    }
  }
}
