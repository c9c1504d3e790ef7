package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.Command;
import org.rdma4j.RdmaException;

@Tag("device")
final class CmCyclesTest {
  private static final int CYCLES = 30;

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  /** What the kernel holds for this machine's processes: queue pairs, identifiers and the rest. */
  private static String resources() throws Exception {
    return Command.output("rdma", "resource", "show");
  }

  @Test
  void connectingAndDisconnectingLeavesNothingBehind() throws Exception {
    CmLoopback.connected(PortSpace.TCP).close();
    long descriptors = descriptors();
    String resources = resources();
    for (int i = 0; i < CYCLES; i++) {
      CmLoopback.connected(PortSpace.TCP).close();
    }
    assertThat(descriptors()).isEqualTo(descriptors);
    assertThat(resources()).isEqualTo(resources);
  }

  @Test
  void whatIsClosedInTheMiddleLeavesNothingBehind() throws Exception {
    CmLoopback.connected(PortSpace.TCP).close();
    long descriptors = descriptors();
    String resources = resources();
    for (int i = 0; i < CYCLES; i++) {
      closeInTheMiddle(Duration.ofNanos(ThreadLocalRandom.current().nextLong(20_000_000)));
    }
    assertThat(descriptors()).isEqualTo(descriptors);
    assertThat(resources()).isEqualTo(resources);
  }

  /** Both sides connect, while other threads close what they use, in whatever order. */
  private static void closeInTheMiddle(Duration after) throws Exception {
    SynchronousCmId listener = CmLoopback.listener(PortSpace.TCP);
    SynchronousCmId client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
    var side = new CmLoopback.Side(client.id());
    List<FutureTask<Boolean>> tasks = new ArrayList<>();
    tasks.add(
        CmLoopback.start(
            () -> survives(() -> client.connect(ConnectionParameters.DEFAULT, PATIENCE))));
    tasks.add(CmLoopback.start(() -> survives(() -> serve(listener))));
    tasks.add(CmLoopback.start(() -> close(side.domain, after)));
    tasks.add(CmLoopback.start(() -> close(client, after)));
    tasks.add(CmLoopback.start(() -> close(side.queue, after)));
    tasks.add(CmLoopback.start(() -> close(listener, after)));
    for (FutureTask<Boolean> task : tasks) {
      assertThat(CmLoopback.get(task)).isTrue();
    }
  }

  private static void serve(SynchronousCmId listener) throws InterruptedException {
    SynchronousCmId server = listener.awaitRequest(PATIENCE).orElseThrow();
    try (server;
        var side = new CmLoopback.Side(server.id())) {
      server.accept(ConnectionParameters.DEFAULT, Duration.ofSeconds(2));
      assertThat(side.queuePair.type()).isNotNull();
    }
  }

  private interface Call {
    void make() throws InterruptedException;
  }

  private static boolean survives(Call call) throws InterruptedException {
    try {
      call.make();
    } catch (IllegalStateException | RdmaException refused) {
      // As it should be where something is closed.
    }
    return true;
  }

  private static boolean close(AutoCloseable resource, Duration after) throws Exception {
    TimeUnit.NANOSECONDS.sleep(after.toNanos());
    resource.close();
    return true;
  }
}
