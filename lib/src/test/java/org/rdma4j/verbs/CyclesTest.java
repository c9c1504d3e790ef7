package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.Command;

/** Ten thousand times opened and closed, nothing is left: descriptors, objects in the kernel. */
@Tag("device")
@Tag("slow")
@Timeout(300)
final class CyclesTest {
  private static final int CYCLES = 10_000;
  private static final Pattern OWNER = Pattern.compile(" pid (\\d+) ");

  private RdmaDevice device;
  private ProtectionDomain domain;
  private long descriptors;
  private List<String> resources;

  @BeforeEach
  void count() throws Exception {
    device = Loopback.openDevice();
    domain = device.allocateProtectionDomain();
    // What a first listing opens for good is not what this is about.
    descriptors();
    descriptors = descriptors();
    resources = resources();
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(descriptors()).isEqualTo(descriptors);
    assertThat(resources()).isEqualTo(resources);
    device.close();
  }

  @Test
  void devices() {
    for (int i = 0; i < CYCLES; i++) {
      RdmaDevice.open(device.info().name()).close();
    }
  }

  @Test
  void protectionDomains() {
    for (int i = 0; i < CYCLES; i++) {
      device.allocateProtectionDomain().close();
    }
  }

  @Test
  void memoryRegions() {
    for (int i = 0; i < CYCLES; i++) {
      domain.register(4096, AccessFlag.LOCAL_WRITE).close();
    }
  }

  @Test
  void completionChannelsAndQueues() {
    for (int i = 0; i < CYCLES; i++) {
      CompletionChannel channel = device.createCompletionChannel();
      device.createCompletionQueue(16, channel);
      channel.close();
    }
  }

  @Test
  void queuePairs() {
    CompletionQueue queue = device.createCompletionQueue(16);
    QueuePairConfig config = QueuePairConfig.reliable(queue).sendDepth(4).receiveDepth(4);
    for (int i = 0; i < CYCLES; i++) {
      QueuePair queuePair = domain.createQueuePair(config);
      queuePair.sendRequests(1).add(1);
      queuePair.close();
    }
    queue.close();
  }

  private static long descriptors() throws IOException {
    return list("/proc/self/fd").size();
  }

  /**
   * The kernel's objects of this process, by kind: it knows them by the thread that opened the
   * device.
   */
  private static List<String> resources() throws Exception {
    Set<String> threads = Set.copyOf(list("/proc/self/task"));
    List<String> all = new ArrayList<>();
    for (String kind : List.of("pd", "cq", "qp", "mr")) {
      Matcher owner = OWNER.matcher(Command.output("rdma", "resource", "show", kind));
      while (owner.find()) {
        if (threads.contains(owner.group(1))) {
          all.add(kind);
        }
      }
    }
    assertThat(all).contains("pd");
    return all;
  }

  private static List<String> list(String directory) throws IOException {
    try (var entries = Files.list(Path.of(directory))) {
      return entries.map(entry -> entry.getFileName().toString()).toList();
    }
  }
}
