package org.rdma4j.verbs;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.QueuePolling;
import org.rdma4j.inplace.InPlaceCompletions;

/**
 * The polls of a completion queue that is used in place if its first queue pair can be. Until there
 * is one, there are no completions.
 */
final class LatePolling extends QueuePolling {
  private final QueuePolling byProvider;
  private final Supplier<InPlaceCompletions> inPlace;
  private volatile @Nullable QueuePolling chosen;

  /**
   * Creates polls that are not decided yet.
   *
   * @param byProvider polls by functions of the provider
   * @param inPlace takes the queue over
   */
  LatePolling(QueuePolling byProvider, Supplier<InPlaceCompletions> inPlace) {
    this.byProvider = byProvider;
    this.inPlace = inPlace;
  }

  /** Polls by {@code ibv_poll_cq}. */
  static QueuePolling byProvider(long op, long queue, boolean critical) {
    return new QueuePolling() {
      @Override
      public int poll(int max, long entries, long rows) {
        return critical
            ? DataPath.ibv_poll_cq$critical(op, queue, max, entries)
            : DataPath.ibv_poll_cq(op, queue, max, entries);
      }
    };
  }

  @Override
  public int poll(int max, long entries, long rows) {
    QueuePolling decided = chosen;
    return decided == null ? 0 : decided.poll(max, entries, rows);
  }

  boolean isDecided() {
    return chosen != null;
  }

  /** Returns what polls in place; null if it is not decided, or decided otherwise. */
  @Nullable InPlaceCompletions inPlace() {
    return chosen instanceof InPlaceCompletions decided ? decided : null;
  }

  void decide(boolean isInPlace) {
    if (chosen == null) {
      chosen = isInPlace ? inPlace.get() : byProvider;
    }
  }
}
