package org.rdma4j.tools.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.Main;
import org.rdma4j.tools.testing.CmRun;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs rping against the program in C, and against itself. */
@Tag("device")
@Tag("c-programs")
@Timeout(200)
class RpingDeviceTest {
  private static final long TIMEOUT_SECONDS = 90;
  private static final String HOST = TestDevice.host();

  static Stream<String> options() {
    return Stream.of("-C 3 -S 64", "-C 70 -S 23", "-C 2 -S 65535");
  }

  @ParameterizedTest
  @MethodSource("options")
  void clientWorksWithServerInC(String options) throws Exception {
    int port = TestDevice.freePort();
    CmRun run = CmRun.withServerInC(port, server(port, options), client(port, options));

    assertThatRpingSucceeded(run.client(), "ping data: ", options, "client");
    assertThatRpingInCSucceeded(run.server(), "server ping data: ", options);
  }

  @ParameterizedTest
  @MethodSource("options")
  void serverWorksWithClientInC(String options) throws Exception {
    int port = TestDevice.freePort();
    CmRun run = CmRun.withClientInC(port, server(port, options), client(port, options));

    assertThatRpingSucceeded(run.server(), "server ping data: ", options, "server");
    assertThatRpingInCSucceeded(run.client(), "ping data: ", options);
  }

  /** The programs in C cannot do this over soft-iWARP either. */
  @Tag("needs-connecting-by-address")
  @Test
  void queuePairsThatItChangesItselfWorkWithC() throws Exception {
    clientWorksWithServerInC("-C 3 -S 1000 -q");
    serverWorksWithClientInC("-C 3 -S 1000 -q");
  }

  @Test
  void itWorksWithItself() throws Exception {
    int port = TestDevice.freePort();
    String options = "-C 5 -S 100";
    CmRun run =
        CmRun.inJava(
            port, server(port, options) + " -a " + HOST, client(port, options) + " -I " + HOST);

    assertThatRpingSucceeded(run.client(), "ping data: ", options, "client");
    assertThatRpingSucceeded(run.server(), "server ping data: ", options, "server");
  }

  @Test
  @Tag("slow")
  void oneServerServesSeveralClientsAtOnce() throws Exception {
    int port = TestDevice.freePort();
    List<String> command =
        JavaCommand.of(Main.class, "rping", "-s", "-P", "-p", String.valueOf(port));
    try (ChildProcess server = ChildProcess.start(command)) {
      ChildProcess.awaitListeningCm(port);
      List<ChildProcess> clients = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        clients.add(ChildProcess.start(List.of(client(port, "-C 20 -S 64").split(" "))));
      }
      for (ChildProcess client : clients) {
        try (client) {
          assertThatRpingInCSucceeded(client.await(), "ping data: ", "-C 20 -S 64");
        }
      }
      // A client that is killed does not affect the server.
      try (ChildProcess lost = ChildProcess.start(List.of(client(port, "-C 0 -S 64").split(" ")))) {
        lost.awaitOutput("ping data: rdma-ping-2");
        lost.kill();
      }
      assertThat(InThisJvm.run(client(port, "-C 2 -S 64").split(" ")).status()).isZero();
      server.kill();
    }
  }

  @Test
  void clientWorksWithPersistentServerInC() throws Exception {
    int port = TestDevice.freePort();
    try (ChildProcess server = ChildProcess.start(List.of(("rping -s -P -p " + port).split(" ")))) {
      ChildProcess.awaitListeningCm(port);
      for (int i = 0; i < 2; i++) {
        assertThatRpingSucceeded(
            InThisJvm.run(client(port, "-C 2 -S 64").split(" ")),
            "ping data: ",
            "-C 2 -S 64",
            "client");
      }
      server.kill();
    }
  }

  @Test
  void stepsArePrintedOnRequest() throws Exception {
    int port = TestDevice.freePort();
    CmRun run =
        CmRun.inJava(port, "rping -s -d -p " + port, "rping -c -C 1 -p " + port + " -a " + HOST);

    assertThat(run.server().out())
        .contains("ESTABLISHED", "server received sink adv", "server posted go ahead");
    assertThat(run.client().out()).isEmpty();
  }

  @Test
  void clientWithTooMuchTextIsReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        InThisJvm.begin(("rping -s -S 64 --timeout 20 -p " + port).split(" "));
    ChildProcess.awaitListeningCm(port);
    Outcome client = InThisJvm.run(client(port, "-C 1 -S 100 --timeout 20").split(" "));

    server
        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .assertFailed(
            "the client sends 100 bytes, but this side has space for 64; give both sides the same"
                + " -S");
    client.assertFailed("disconnected during ping 0");
  }

  @Test
  void absentPeersAreReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    InThisJvm.run(client(port, "-C 1 -S 64").split(" "))
        .assertFailed("No program listens on that port");
    InThisJvm.run(("rping -s --timeout 1 -p " + port).split(" "))
        .assertFailed("no client connected within 1 s");
    InThisJvm.run("rping", "-c", "-a", "no.such.host.invalid").assertFailed("no host is named");
  }

  private static void assertThatRpingSucceeded(
      Outcome outcome, String prefix, String options, String side) {
    assertThat(outcome.out()).isEqualTo(pings(prefix, options));
    assertThat(outcome.err()).containsExactly(side + " DISCONNECT EVENT...");
    assertThat(outcome.status()).isZero();
  }

  /** Removes lines of standard error, which can appear in the middle of long lines. */
  private static void assertThatRpingInCSucceeded(Outcome outcome, String prefix, String options) {
    String printed =
        String.join("\n", outcome.out())
            .replaceAll("(client|server) DISCONNECT EVENT\\.\\.\\.\n?", "")
            .replaceAll("wait for RDMA_READ_ADV state 10\n?", "");
    assertThat(printed.strip()).isEqualTo(String.join("\n", pings(prefix, options)));
    assertThat(outcome.status()).isZero();
  }

  private static List<String> pings(String prefix, String options) {
    List<String> words = List.of(options.split(" "));
    int count = Integer.parseInt(words.get(1));
    int bytes = Integer.parseInt(words.get(3));
    List<String> lines = new ArrayList<>();
    for (int ping = 0; ping < count; ping++) {
      StringBuilder line = new StringBuilder("rdma-ping-" + ping + ": ");
      char letter = (char) ('A' + ping % 58);
      while (line.length() < bytes - 1) {
        line.append(letter);
        letter = letter == 'z' ? 'A' : (char) (letter + 1);
      }
      lines.add(prefix + line);
    }
    return lines;
  }

  private static String server(int port, String options) {
    return "rping -s -v -p %d %s".formatted(port, options);
  }

  private static String client(int port, String options) {
    return "rping -c -v -V -a %s -p %d %s".formatted(HOST, port, options);
  }
}
