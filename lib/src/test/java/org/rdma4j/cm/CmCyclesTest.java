package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.Resources;

@Tag("device")
final class CmCyclesTest {
  private static final int CYCLES = 30;

  @Test
  void connectingAndDisconnectingLeavesNothingBehind() throws Exception {
    leavesNothingBehind(() -> CmLoopback.connected(PortSpace.TCP).close());
  }

  @Test
  void closingInTheMiddleLeavesNothingBehind() throws Exception {
    leavesNothingBehind(
        () -> closeInTheMiddle(Duration.ofNanos(ThreadLocalRandom.current().nextLong(20_000_000))));
  }

  private static void leavesNothingBehind(Cycle cycle) throws Exception {
    // The kernel lists objects under the thread that opened their device, and librdmacm opens each
    // device once for the process. This connection makes that happen before the first count.
    try (var connected = CmLoopback.connected(PortSpace.TCP)) {
      Resources before = Resources.now();
      assertThat(before.objects()).contains("qp", "cm_id");
      for (int i = 0; i < CYCLES; i++) {
        cycle.run();
      }
      assertThat(Resources.now()).isEqualTo(before);
      assertThat(connected).isNotNull();
    }
  }

  private interface Cycle {
    void run() throws Exception;
  }

  /** Both sides connect while other threads close, in any order, what they use. */
  private static void closeInTheMiddle(Duration after) throws Exception {
    SynchronousCmId listener = CmLoopback.listener(PortSpace.TCP);
    SynchronousCmId client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
    var side = new CmLoopback.Side(client.id());
    List<FutureTask<Boolean>> tasks = new ArrayList<>();
    tasks.add(
        CmLoopback.start(() -> survives(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE))));
    tasks.add(CmLoopback.start(() -> survives(() -> serve(listener))));
    tasks.add(CmLoopback.start(() -> close(side.domain, after)));
    tasks.add(CmLoopback.start(() -> close(client, after)));
    tasks.add(CmLoopback.start(() -> close(side.queue, after)));
    tasks.add(CmLoopback.start(() -> close(listener, after)));
    for (FutureTask<Boolean> task : tasks) {
      assertThat(CmLoopback.get(task)).isTrue();
    }
  }

  private static void serve(SynchronousCmId listener)
      throws InterruptedException, TimeoutException {
    SynchronousCmId server = listener.awaitRequest(PATIENCE).orElseThrow();
    try (server;
        var side = new CmLoopback.Side(server.id())) {
      server.accept(ConnectionConfig.DEFAULT, Duration.ofSeconds(2));
      assertThat(side.queuePair.type()).isNotNull();
    }
  }

  private interface Call {
    void make() throws InterruptedException, TimeoutException;
  }

  private static boolean survives(Call call) throws InterruptedException {
    try {
      call.make();
    } catch (IllegalStateException | RdmaException | TimeoutException refused) {
      // The right outcome if something is closed.
    }
    return true;
  }

  private static boolean close(AutoCloseable resource, Duration after) throws Exception {
    TimeUnit.NANOSECONDS.sleep(after.toNanos());
    resource.close();
    return true;
  }
}
