package org.rdma4j.samples.loops;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.samples.testing.TestDevice;

@Tag("device")
@Tag("protocol")
@Timeout(200)
final class LoopsDeviceTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final LoopServer server = new LoopServer(new InetSocketAddress(TestDevice.host(), 0), 3);
  private final List<LoopClient> clients = new ArrayList<>();

  @AfterEach
  void close() {
    clients.forEach(LoopClient::close);
    server.close();
  }

  private LoopClient connect() throws Exception {
    LoopClient client = new LoopClient(server.address(), TIMEOUT);
    clients.add(client);
    return client;
  }

  @Test
  void eachLoopAnswersAndPublishes() throws Exception {
    for (int i = 0; i < 6; i++) {
      connect();
    }
    for (LoopClient each : clients) {
      assertThat(each.square(12).get(60, TimeUnit.SECONDS)).isEqualTo(144);
      while (each.ticks() < 3) {
        Thread.sleep(5);
      }
    }
  }

  @Test
  void aClientThatIsTooSlowMissesTicksAndOthersMissNone() throws Exception {
    LoopClient slow = connect();
    slow.pause();
    // A client of the same loop.
    connect();
    connect();
    LoopClient other = connect();
    while (other.ticks() < 100) {
      Thread.sleep(5);
    }
    assertThat(slow.ticks()).isZero();
    slow.resume();
    assertThat(slow.square(3).get(60, TimeUnit.SECONDS)).isEqualTo(9);
    assertThat(slow.ticks()).isLessThan(other.ticks());
    close();
    assertThat(server.skipped()).isPositive();
  }

  @Test
  void aServerThatEndsLosesNoRequest() throws Exception {
    for (int i = 0; i < 4; i++) {
      connect();
    }
    List<CompletableFuture<Long>> answers = new ArrayList<>();
    Thread ending = Thread.ofPlatform().unstarted(server::close);
    boolean goesOn = true;
    for (long i = 0; goesOn; i++) {
      if (i == 100) {
        ending.start();
      }
      for (LoopClient each : clients) {
        if (!each.serverEnds()) {
          answers.add(each.square(i));
        }
      }
      goesOn = i < 100 || clients.stream().anyMatch(each -> !each.serverEnds());
      Thread.sleep(1);
    }
    for (CompletableFuture<Long> each : answers) {
      assertThat(each.get(60, TimeUnit.SECONDS)).isNotNegative();
    }
    clients.forEach(LoopClient::close);
    ending.join(Duration.ofSeconds(60));
    assertThat(ending.isAlive()).isFalse();
    assertThat(answers).hasSizeGreaterThanOrEqualTo(400);
  }

  @Test
  void theProgramPrintsWhatItGotAndWhatIsWrong() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    try (PrintStream to = new PrintStream(out, true, UTF_8);
        PrintStream errors = new PrintStream(err, true, UTF_8)) {
      int port = server.address().getPort();
      assertThat(Loops.run(to, errors, port, TestDevice.host())).isZero();
      assertThat(Loops.run(to, errors, port, "a", "b")).isEqualTo(2);
    }
    assertThat(out.toString(UTF_8)).contains("the sum of the squares is 328350, after ");
    assertThat(err.toString(UTF_8)).isEqualTo("usage: loops [SERVER]\n");
  }
}
