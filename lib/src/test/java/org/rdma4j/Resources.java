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

/**
 * What this process holds of the operating system.
 *
 * @param descriptors what each open descriptor leads to
 * @param objects the kind of each RDMA object that the kernel has for this process
 */
public record Resources(List<String> descriptors, List<String> objects) {
  private static final Pattern OWNER = Pattern.compile(" pid (\\d+) ");

  /**
   * What it holds now. The kernel knows objects by the thread that opened their device, which must
   * still be there; one protection domain must be open, to show that this works.
   */
  public static Resources now() throws IOException, InterruptedException {
    // What the virtual machine opens for good, in its time, is not held by what is tested.
    openDescriptors();
    ClassLoader.getSystemResource("in no file of the class path");
    return new Resources(openDescriptors(), kernelObjects());
  }

  private static List<String> openDescriptors() throws IOException {
    List<String> targets = new ArrayList<>();
    for (String descriptor : list("/proc/self/fd")) {
      try {
        targets.add(Files.readSymbolicLink(Path.of("/proc/self/fd", descriptor)).toString());
      } catch (NoSuchFileException gone) {
        assertThat(targets).as("besides that of the listing").isNotEmpty();
      }
    }
    targets.sort(null);
    return targets;
  }

  private static List<String> kernelObjects() throws IOException, InterruptedException {
    Set<String> threads = Set.copyOf(list("/proc/self/task"));
    List<String> objects = new ArrayList<>();
    for (String kind : List.of("pd", "cq", "qp", "mr", "cm_id")) {
      Matcher owner = OWNER.matcher(Command.output("rdma", "resource", "show", kind));
      while (owner.find()) {
        if (threads.contains(owner.group(1))) {
          objects.add(kind);
        }
      }
    }
    assertThat(objects).contains("pd");
    return objects;
  }

  private static List<String> list(String directory) throws IOException {
    try (var entries = Files.list(Path.of(directory))) {
      return entries.map(entry -> entry.getFileName().toString()).toList();
    }
  }
}
