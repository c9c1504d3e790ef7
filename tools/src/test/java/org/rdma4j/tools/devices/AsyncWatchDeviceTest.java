package org.rdma4j.tools.devices;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.NetworkInterface;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.GidEntry;

/** Watches a change of the GID table together with ibv_asyncwatch. */
@Tag("device")
@Tag("c-programs")
@Tag("alone")
class AsyncWatchDeviceTest {
  private static final long TIMEOUT_SECONDS = 90;

  /** In a documentation network that nothing else uses, so that no route changes. */
  private static final String ADDRESS = "203.0.113.77/32";

  @Tag("needs-ip-gids")
  @Test
  void itPrintsTheSameAsC() throws Exception {
    String networkInterface = networkInterface();
    try (ChildProcess inC = ChildProcess.start(List.of("ibv_asyncwatch", "-d", TestDevice.NAME))) {
      inC.awaitOutput("async event FD");
      CompletableFuture<Outcome> watch =
          InThisJvm.begin("asyncwatch", "-d", TestDevice.NAME, "-n", "1", "--timeout", "60");
      // Wait until the device is open, which is not visible outside of the process.
      Thread.sleep(1000);
      assertThat(watch).isNotDone();
      ip("addr", "add", ADDRESS, "dev", networkInterface);
      try {
        Outcome seen = watch.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertThat(seen.err()).isEmpty();
        assertThat(seen.out()).hasSize(2);
        assertThat(seen.out().get(0)).matches(TestDevice.NAME + ": async event FD \\d+");
        assertThat(seen.out().get(1)).isEqualTo("  event_type IBV_EVENT_GID_CHANGE (18), port 1");
        assertThat(seen.status()).isZero();
        inC.awaitOutput(seen.out().get(1));
      } finally {
        ip("addr", "del", ADDRESS, "dev", networkInterface);
      }
    }
  }

  @Test
  void silenceIsReportedInOneLine() {
    Outcome outcome = InThisJvm.run("asyncwatch", "-d", TestDevice.NAME, "--timeout", "1");
    assertThat(outcome.err()).singleElement().asString().contains("no event happened for 1 s");
    assertThat(outcome.status()).isEqualTo(1);
  }

  private static String networkInterface() throws Exception {
    try (RdmaDevice device = RdmaDevice.open(TestDevice.NAME)) {
      int index =
          device.port(1).gids().stream()
              .mapToInt(GidEntry::networkInterface)
              .findFirst()
              .orElseThrow();
      return NetworkInterface.getByIndex(index).getName();
    }
  }

  private static void ip(String... words) throws Exception {
    try (ChildProcess ip =
        ChildProcess.start(Stream.concat(Stream.of("ip"), Arrays.stream(words)).toList())) {
      Outcome outcome = ip.await();
      assertThat(outcome.status()).as("%s", outcome).isZero();
    }
  }
}
