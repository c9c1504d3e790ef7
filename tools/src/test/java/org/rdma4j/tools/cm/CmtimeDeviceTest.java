package org.rdma4j.tools.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.Main;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs cmtime against the program in C, and against itself. The servers run until killed. */
@Tag("device")
@Tag("c-programs")
@Timeout(200)
class CmtimeDeviceTest {
  private static final String HOST = TestDevice.host();
  private static final String NUMBER = "\\d+\\.\\d\\d";
  private static final Pattern ROW =
      Pattern.compile("([a-z ]{13}): {1,8}" + NUMBER + (" *" + NUMBER).repeat(3));

  @Tag("needs-old-cmtime")
  @Test
  void clientMeasuresServerInC() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = server(port, List.of("cmtime", "-p", String.valueOf(port)))) {
      assertThat(server).isNotNull();
      assertThatAllWasMeasured(InThisJvm.run(client(port, "-c 20").split(" ")), false);
    }
  }

  @Tag("needs-old-cmtime")
  @Test
  void serverServesClientsInCOneAfterAnother() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server =
        server(port, JavaCommand.of(Main.class, "cmtime", "-p", String.valueOf(port)))) {
      assertThat(server).isNotNull();
      for (int i = 0; i < 2; i++) {
        try (ChildProcess client =
            ChildProcess.start(List.of(client(port, "-c 20 -b " + HOST).split(" ")))) {
          assertThatAllWasMeasured(client.await(), true);
        }
      }
    }
  }

  @Test
  void clientWorksWithServer() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server =
        server(
            port, JavaCommand.of(Main.class, "cmtime", "-b", HOST, "-p", String.valueOf(port)))) {
      assertThat(server).isNotNull();
      assertThatAllWasMeasured(
          InThisJvm.run(client(port, "-c 20 -r 7 -t 9000 -b " + HOST).split(" ")), true);
    }
  }

  private static ChildProcess server(int port, List<String> command) throws Exception {
    ChildProcess server = ChildProcess.start(command);
    try {
      ChildProcess.awaitListeningCm(port);
      return server;
    } catch (Exception | AssertionError failed) {
      server.close();
      throw failed;
    }
  }

  private static void assertThatAllWasMeasured(Outcome client, boolean bound) {
    assertThat(client.err()).isEmpty();
    List<String> steps = new ArrayList<>(List.of("creating id", "binding source address"));
    List<String> rows = new ArrayList<>(List.of("create id", "bind addr"));
    if (!bound) {
      steps.remove(1);
      rows.remove(1);
    }
    steps.addAll(
        List.of(
            "resolving address",
            "resolving route",
            "creating qp",
            "connecting",
            "disconnecting",
            "destroying id",
            "step              total ms     max ms     min us  us / conn"));
    rows.addAll(
        List.of("resolve addr", "resolve route", "create qp", "connect", "disconnect", "destroy"));
    assertThat(client.out().subList(0, steps.size())).containsExactlyElementsOf(steps);
    assertThat(client.out().subList(steps.size(), client.out().size()))
        .allSatisfy(row -> assertThat(row).matches(ROW))
        .allSatisfy(row -> assertThat(row).doesNotContain("1000000000"))
        .extracting(row -> row.substring(0, 13).strip())
        .containsExactlyElementsOf(rows);
    assertThat(client.status()).isZero();
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void absentServerIsReportedForEachConnection() throws Exception {
    Outcome client = InThisJvm.run(client(TestDevice.freePort(), "-c 3").split(" "));

    client.assertFailed("3 of 3 connections failed");
    assertThat(client.out())
        .containsSubsequence(
            "connecting",
            "event: RDMA_CM_EVENT_REJECTED, error: 8",
            "event: RDMA_CM_EVENT_REJECTED, error: 8",
            "event: RDMA_CM_EVENT_REJECTED, error: 8",
            "disconnecting");
  }

  @Test
  void failureToBindIsReportedForEachConnection() throws Exception {
    Outcome client = InThisJvm.run(client(TestDevice.freePort(), "-c 2 -b 203.0.113.9").split(" "));

    client.assertFailed("2 of 2 connections failed");
    assertThat(client.out()).filteredOn(line -> line.startsWith("failure binding")).hasSize(2);
  }

  private static String client(int port, String options) {
    return "cmtime -s %s -p %d %s".formatted(HOST, port, options);
  }
}
