package org.rdma4j.testing;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * What this process holds. The objects are those of all processes, so nothing else may use the
 * device, and those of threads that still exist, as the server's do.
 *
 * @param heapKib the live objects of the Java heap
 * @param residentKib the memory of the process
 * @param descriptors what each open file is
 * @param objects the number of the objects of each kind that the kernel keeps for processes
 */
public record Held(
    long heapKib, long residentKib, List<String> descriptors, Map<String, Long> objects) {
  private static final List<String> KINDS = List.of("pd", "cq", "qp", "mr", "cm_id");

  /** Returns what it holds now, after a garbage collection. */
  public static Held now() throws Exception {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(200); // for the cleaners
    }
    return new Held(
        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10,
        resident(),
        openFiles(),
        objectCounts());
  }

  private static Map<String, Long> objectCounts() throws Exception {
    Map<String, Long> counts = new LinkedHashMap<>();
    if (SimulatedAdapter.isLoaded()) {
      KINDS.forEach(kind -> counts.put(kind, SimulatedAdapter.count(kind)));
      return counts;
    }
    for (String kind : KINDS) {
      List<String> command = List.of("rdma", "resource", "show", kind);
      try (ChildProcess show = ChildProcess.start(command)) {
        Outcome shown = show.await();
        if (shown.status() != 0) {
          throw new AssertionError(command + ": " + shown);
        }
        counts.put(kind, shown.out().stream().filter(line -> line.contains(" pid ")).count());
      }
    }
    return counts;
  }

  private static long resident() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
          .sum();
    }
  }

  private static List<String> openFiles() throws IOException {
    List<String> open = new ArrayList<>();
    try (var files = Files.list(Path.of("/proc/self/fd"))) {
      for (Path each : (Iterable<Path>) files::iterator) {
        try {
          open.add(Files.readSymbolicLink(each).toString().replaceAll("\\d+", "N"));
        } catch (NoSuchFileException closed) {
          // That of the listing.
        }
      }
    }
    return open;
  }

  /**
   * Waits until the process holds no more than before.
   *
   * @param kept the kinds of objects of which some may stay for later
   * @return what it still holds more of
   */
  public static List<String> awaitNoMoreThan(Held before, Set<String> kept) throws Exception {
    long began = System.nanoTime();
    List<String> more = now().beyond(before, kept);
    while (!more.isEmpty() && System.nanoTime() - began < TimeUnit.SECONDS.toNanos(90)) {
      Thread.sleep(1000);
      more = now().beyond(before, kept);
    }
    return more;
  }

  /** Returns what this holds more of than before. */
  private List<String> beyond(Held before, Set<String> kept) {
    List<String> more = new ArrayList<>();
    objects.forEach(
        (kind, count) -> {
          if (!kept.contains(kind) && count > before.objects.getOrDefault(kind, 0L)) {
            more.add(count + " " + kind);
          }
        });
    List<String> further = new ArrayList<>(descriptors);
    before.descriptors.forEach(further::remove);
    more.addAll(further);
    return more;
  }

  @Override
  public String toString() {
    return "heap %d KiB, resident %d KiB, %d files, %s"
        .formatted(
            heapKib,
            residentKib,
            descriptors.size(),
            objects.entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey())
                .collect(Collectors.joining(", ")));
  }
}
