package org.rdma4j.tools.cm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Measures how long each step takes for each connection, and for all of them together. */
final class StepTimes {
  /** The steps of a connection's life, in order. */
  enum Step {
    CREATE_ID("create id"),
    BIND("bind addr"),
    RESOLVE_ADDRESS("resolve addr"),
    RESOLVE_ROUTE("resolve route"),
    CREATE_QUEUE_PAIR("create qp"),
    CONNECT("connect"),
    DISCONNECT("disconnect"),
    DESTROY("destroy");

    private final String label;

    Step(String label) {
      this.label = label;
    }
  }

  /** The minimum that C prints if nothing was measured. */
  private static final double NO_MINIMUM_MICROS = 1e9;

  private static final long UNKNOWN = Long.MIN_VALUE;

  private final int connections;

  private final Map<Step, Times> steps = new EnumMap<>(Step.class);

  /** Times in nanoseconds: one for each connection, then one for all connections together. */
  private static final class Times {
    final long[] began;
    final long[] took;

    Times(int count) {
      began = new long[count];
      took = new long[count];
      Arrays.fill(took, UNKNOWN);
    }
  }

  StepTimes(int connections) {
    this.connections = connections;
    for (Step step : Step.values()) {
      steps.put(step, new Times(connections + 1));
    }
  }

  private Times of(Step step) {
    return Objects.requireNonNull(steps.get(step));
  }

  void begin(Step step, int connection, long nanoTime) {
    of(step).began[connection] = nanoTime;
  }

  void end(Step step, int connection, long nanoTime) {
    Times times = of(step);
    times.took[connection] = nanoTime - times.began[connection];
  }

  void beginAll(Step step, long nanoTime) {
    begin(step, connections, nanoTime);
  }

  void endAll(Step step, long nanoTime) {
    end(step, connections, nanoTime);
  }

  /** Returns the table in the format of C. Steps that were not taken are left out. */
  List<String> table() {
    List<String> lines = new ArrayList<>();
    lines.add("step              total ms     max ms     min us  us / conn");
    steps.forEach(
        (step, times) -> {
          if (times.took[connections] != UNKNOWN) {
            lines.add(line(step, times.took));
          }
        });
    return lines;
  }

  private String line(Step step, long[] took) {
    double total = took[connections] / 1e3;
    double longest = 0;
    double shortest = NO_MINIMUM_MICROS;
    for (int i = 0; i < connections; i++) {
      if (took[i] != UNKNOWN) {
        longest = Math.max(longest, took[i] / 1e3);
        shortest = Math.min(shortest, took[i] / 1e3);
      }
    }
    return String.format(
        Locale.ROOT,
        "%-13s: %11.2f%11.2f%11.2f%11.2f",
        step.label,
        total / 1e3,
        longest / 1e3,
        shortest,
        total / connections);
  }
}
