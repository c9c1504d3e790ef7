package org.rdma4j.connection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Reports to operators what peers, or the ways to them, have caused: one line for each event. Of
 * the same event in the same second, only the first one has a line of its own; the others are
 * counted, because a peer with many connections, or many peers at the same time, would fill the
 * log.
 *
 * <p>All methods may be called from any thread.
 */
final class PeerLog {
  private static final long SECOND = 1_000_000_000;

  private final Consumer<String> warnings;
  private final Map<String, Recent> events = new HashMap<>();

  /** An event that was reported less than a second ago. */
  private static final class Recent {
    final long began = System.nanoTime();
    int more;
    String last = "";
  }

  /**
   * Creates it.
   *
   * @param warnings gets each line
   */
  PeerLog(Consumer<String> warnings) {
    this.warnings = warnings;
  }

  /**
   * Reports an event.
   *
   * @param event what has happened, without names and numbers
   * @param detail which connection or peer, and the reason
   */
  void warn(String event, String detail) {
    synchronized (events) {
      Recent recent = events.get(event);
      if (recent != null) {
        recent.more++;
        recent.last = detail;
        return;
      }
      events.put(event, new Recent());
    }
    warnings.accept(event + ": " + detail);
  }

  /**
   * Reports how many events were counted, once their second is over. Called at intervals.
   *
   * @param now the time, on the scale of {@link System#nanoTime}
   */
  void tick(long now) {
    List<String> lines = new ArrayList<>();
    synchronized (events) {
      events.entrySet().removeIf(each -> isOver(each.getKey(), each.getValue(), now, lines));
    }
    lines.forEach(warnings);
  }

  private static boolean isOver(String event, Recent recent, long now, List<String> lines) {
    boolean over = now - recent.began >= SECOND;
    if (over && recent.more > 0) {
      lines.add("%s: and %d more, the last: %s".formatted(event, recent.more, recent.last));
    }
    return over;
  }

  /** Reports all that were counted. */
  void finish() {
    tick(System.nanoTime() + SECOND);
  }
}
