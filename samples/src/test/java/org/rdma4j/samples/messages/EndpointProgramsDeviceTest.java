package org.rdma4j.samples.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.endpoint.Endpoint;
import org.rdma4j.endpoint.EndpointConfig;
import org.rdma4j.samples.testing.ChildProcess;
import org.rdma4j.samples.testing.Outcome;
import org.rdma4j.samples.testing.SamplesJvm;
import org.rdma4j.samples.testing.TestDevice;
import org.rdma4j.verbs.AccessFlag;

/** Runs the programs that do not exist in C, each against itself. */
@Tag("device")
@Tag("needs-connecting-by-address")
class EndpointProgramsDeviceTest {
  private static final long TIMEOUT_SECONDS = 150;

  @ParameterizedTest
  @ValueSource(strings = {"-n 50", "-n 20 -s 65536", "-n 1 -s 1"})
  void endpointsNeedNoOptions(String options) throws Exception {
    String port = String.valueOf(TestDevice.freePort());
    CompletableFuture<Outcome> server = Outcome.begin(words("endpoint-pingpong -p", port, options));
    ChildProcess.awaitListening(Integer.parseInt(port));
    Outcome client = Outcome.of(words("endpoint-pingpong localhost -p", port, options));
    for (Outcome outcome : List.of(client, server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS))) {
      assertThat(outcome.err()).isEmpty();
      assertThat(outcome.out()).singleElement().asString().endsWith(" usec/iter");
      assertThat(outcome.status()).isZero();
    }
  }

  @Test
  void unequalSizesAreReportedInOneLine() throws Exception {
    String port = String.valueOf(TestDevice.freePort());
    CompletableFuture<Outcome> server = Outcome.begin(words("endpoint-pingpong -p", port, "-s 64"));
    ChildProcess.awaitListening(Integer.parseInt(port));
    Outcome client = Outcome.of(words("endpoint-pingpong localhost -p", port, "-s 32 --timeout 2"));
    server
        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .assertFailed("message 0 has 32 bytes instead of 64");
    assertThat(client.status()).isEqualTo(1);
    assertThat(client.err()).hasSize(1);
  }

  @Test
  void serverEndsAfterItsClientExited() throws Exception {
    String port = String.valueOf(TestDevice.freePort());
    CompletableFuture<Outcome> server = Outcome.begin(words("endpoint-pingpong -p", port, "-n 9"));
    ChildProcess.awaitListening(Integer.parseInt(port));
    assertThat(Outcome.of(words("endpoint-pingpong localhost -p", port, "-n 3")).status()).isZero();

    server
        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .assertFailed("the peer exited before the receive of message 3 completed");
  }

  @Test
  void serverWaitsForAClientThatIsSilentForAWhile() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server =
        Outcome.begin(words("endpoint-pingpong -p", "" + port, "-n 1 -s 4"));
    ChildProcess.awaitListening(port);
    Duration timeout = Duration.ofSeconds(TIMEOUT_SECONDS);
    try (Endpoint client =
        Endpoint.connect(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            EndpointConfig.DEFAULT.remoteAccess(AccessFlag.REMOTE_WRITE),
            timeout)) {
      client.postReceive(1, 4, 4);
      // Longer than the server waits before it checks whether the client is there.
      Thread.sleep(3000);
      assertThat(server).isNotDone();
      client.postSend(2, 0, 4);
      client.await(2, timeout);
      assertThat(client.await(1, timeout).bytes()).isEqualTo(4);
      assertThat(server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).status()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"endpoint-pingpong", "read-write-demo"})
  void strangerIsReportedInOneLine(String program) throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> server = Outcome.begin(words(program + " -p", "" + port, ""));
    ChildProcess.awaitListening(port);
    try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
      stranger
          .getOutputStream()
          .write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      server
          .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
          .assertFailed("the peer speaks another protocol");
    }
    Outcome.of(words(program + " localhost -p", "" + TestDevice.freePort(), ""))
        .assertFailed("start that side first");
    Outcome.of(words(program + " -p", "" + port, "--timeout 1"))
        .assertFailed("no endpoint connected");
  }

  @Test
  @Tag("slow")
  void twoProcessesReadAndWriteEachOthersMemory() throws Exception {
    int port = TestDevice.freePort();
    String typedByServer =
        """
        4
        5
        6 server memory
        3 1
        4
        what?
        """;
    String typedByClient =
        """
        6 from the client
        2 64
        3 1
        4
        1 64
        5
        1 0
        3 1
        7
        5
        """;
    try (ChildProcess server =
        ChildProcess.start(
            SamplesJvm.command("read-write-demo", "--timeout", "300", "-p", String.valueOf(port)),
            typedByServer)) {
      ChildProcess.awaitListening(port);
      try (ChildProcess client =
          ChildProcess.start(
              SamplesJvm.command(
                  "read-write-demo", "--timeout", "300", "-p", String.valueOf(port), "localhost"),
              typedByClient)) {
        Outcome outcome = SamplesJvm.withoutNoise(client.await());
        assertThat(outcome.out().subList(3, outcome.out().size()))
            .containsExactly(
                "filled with \"from the client\"",
                "wrote 64 bytes",
                "sent 1 bytes",
                "received 1 bytes",
                "read 64 bytes",
                "736572766572206d656d6f7279736572766572206d656d6f7279736572766572"
                    + "  server memoryserver memoryserver",
                "\"0\" is not a number of bytes from 1 to 1048576",
                "sent 1 bytes");
        assertThat(outcome.status()).isZero();
      }
      Outcome outcome = SamplesJvm.withoutNoise(server.await());
      assertThat(outcome.out().get(0)).startsWith("local:  QPN 0x").contains("rkey 0x");
      assertThat(outcome.out().get(2)).startsWith("1 read  2 write");
      assertThat(outcome.out().subList(3, outcome.out().size()))
          .containsExactly(
              "received 1 bytes",
              "66726f6d2074686520636c69656e7466726f6d2074686520636c69656e746672"
                  + "  from the clientfrom the clientfr",
              "filled with \"server memory\"",
              "sent 1 bytes",
              "received 1 bytes",
              outcome.out().get(2));
      assertThat(outcome.status()).isZero();
    }
  }

  @Test
  void theExampleSendsReadsAndWrites() throws Exception {
    int port = TestDevice.freePort();
    String common = "-d %s -g %s -p %d".formatted(TestDevice.NAME, TestDevice.GID, port);
    CompletableFuture<Outcome> server = Outcome.begin(("rc-example " + common).split(" "));
    ChildProcess.awaitListening(port);
    Outcome client = Outcome.of(("rc-example localhost " + common).split(" "));
    assertThat(client.err()).isEmpty();
    assertThat(client.out())
        .containsExactly(
            "\"SEND operation\" was received",
            "\"RDMA read operation\" was read from the server's memory",
            "test result is 0");
    assertThat(client.status()).isZero();
    Outcome served = server.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    assertThat(served.err()).isEmpty();
    assertThat(served.out())
        .containsExactly(
            "\"RDMA write operation\" was found in the local memory", "test result is 0");
    assertThat(served.status()).isZero();
  }

  @Test
  void failuresOfTheExampleAreReportedInOneLine() throws Exception {
    Outcome.of("rc-example", "-d", TestDevice.NAME)
        .assertFailed("needs a GID; give -g one of these indices: ");
    int port = TestDevice.freePort();
    String common = "-d %s -g %s -p %d".formatted(TestDevice.NAME, TestDevice.GID, port);
    Outcome.of(("rc-example localhost " + common).split(" ")).assertFailed("start it first");
    CompletableFuture<Outcome> server = Outcome.begin(("rc-example " + common).split(" "));
    ChildProcess.awaitListening(port);
    try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
      stranger.getOutputStream().write("x".repeat(34).getBytes(StandardCharsets.US_ASCII));
      server
          .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
          .assertFailed("did not send the address of a queue pair (queuePairNumber is");
    }
  }

  private static String[] words(String program, String port, String options) {
    return (program + " " + port + " " + options).strip().split(" ");
  }
}
