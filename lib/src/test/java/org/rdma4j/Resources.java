package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rdma4j.testing.Command;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * The resources of the operating system that this process holds.
 *
 * @param descriptors the target of each open file descriptor
 * @param objects the kind of each RDMA object that the kernel keeps for this process
 */
public record Resources(List<String> descriptors, List<String> objects) {
  private static final List<String> KINDS = List.of("pd", "cq", "qp", "mr", "cm_id");
  private static final Pattern PINNED = Pattern.compile("VmPin:\\s+(\\d+) kB");
  private static final Pattern OWNER = Pattern.compile(" pid (\\d+) ");

  /**
   * Returns what this process holds now. The kernel assigns objects to the thread that opened their
   * device, so that thread must still exist. One protection domain must be open, which shows that
   * the objects are found.
   */
  public static Resources now() throws IOException, InterruptedException {
    // Has the JVM open now the files that it would otherwise open during the test, and keep open.
    openDescriptors();
    ClassLoader.getSystemResource("in no file of the class path");
    return new Resources(openDescriptors(), kernelObjects());
  }

  /** Returns how much memory of this process is pinned for RDMA devices. */
  public static long pinnedKib() throws IOException {
    if (SimulatedAdapter.isLoaded()) {
      return SimulatedAdapter.pinned() >> 10;
    }
    Matcher pinned = PINNED.matcher(Files.readString(Path.of("/proc/self/status")));
    assertThat(pinned.find()).isTrue();
    return Long.parseLong(pinned.group(1));
  }

  private static List<String> openDescriptors() throws IOException {
    List<String> targets = new ArrayList<>();
    for (String descriptor : list("/proc/self/fd")) {
      try {
        targets.add(Files.readSymbolicLink(Path.of("/proc/self/fd", descriptor)).toString());
      } catch (NoSuchFileException closed) {
        assertThat(targets).as("descriptors besides that of the listing").isNotEmpty();
      }
    }
    targets.sort(null);
    return targets;
  }

  private static List<String> kernelObjects() throws IOException, InterruptedException {
    var objects = SimulatedAdapter.isLoaded() ? SimulatedAdapter.objects(KINDS) : shownByRdma();
    assertThat(objects).contains("pd");
    return objects;
  }

  private static List<String> shownByRdma() throws IOException, InterruptedException {
    Set<String> threads = Set.copyOf(list("/proc/self/task"));
    List<String> objects = new ArrayList<>();
    for (String kind : KINDS) {
      Matcher owner = OWNER.matcher(Command.output("rdma", "resource", "show", kind));
      while (owner.find()) {
        if (threads.contains(owner.group(1))) {
          objects.add(kind);
        }
      }
    }
    return objects;
  }

  private static List<String> list(String directory) throws IOException {
    try (var entries = Files.list(Path.of(directory))) {
      return entries.map(entry -> entry.getFileName().toString()).toList();
    }
  }
}
