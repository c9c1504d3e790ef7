package org.rdma4j.tools.selftest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.rdma4j.tools.command.Failure;

/** Opens and closes everything several times: no file descriptor stays open. */
final class DescriptorCheck implements SelfCheck {
  private static final int ROUNDS = 10;

  @Override
  public String name() {
    return "descriptors";
  }

  @Override
  public String run(TestedDevice tested) throws Exception {
    openAndClose(tested);
    long before = count();
    for (int i = 0; i < ROUNDS; i++) {
      openAndClose(tested);
    }
    long after = count();
    if (after > before) {
      throw new Failure(
          "%d rounds left %d file descriptors open".formatted(ROUNDS, after - before));
    }
    return "%d before and %d after %d rounds".formatted(before, after, ROUNDS);
  }

  private static void openAndClose(TestedDevice tested) throws Exception {
    new EventCheck().run(tested);
    if (tested.address().isPresent()) {
      new EchoCheck().run(tested);
    }
  }

  private static long count() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }
}
