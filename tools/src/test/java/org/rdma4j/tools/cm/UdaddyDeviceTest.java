package org.rdma4j.tools.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.CmRun;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs udaddy against the program in C, and against itself. */
@Tag("device")
@Tag("c-programs")
@Tag("needs-datagrams")
@Timeout(200)
class UdaddyDeviceTest {
  /** The port of the program in C, which has no option for it. */
  private static final int PORT = 7174;

  private static final String HOST = TestDevice.host();

  static Stream<String> options() {
    return Stream.of("-C 10 -S 100", "-c 3 -C 5 -S 4096", "-f ip -t 0x10 -b " + HOST + " -C 1");
  }

  @ParameterizedTest
  @MethodSource("options")
  void clientWorksWithServerInC(String options) throws Exception {
    assertThatBothSucceeded(CmRun.withServerInC(PORT, server(options), client(options)));
  }

  @ParameterizedTest
  @MethodSource("options")
  void serverWorksWithClientInC(String options) throws Exception {
    assertThatBothSucceeded(CmRun.withClientInC(PORT, server(options), client(options)));
  }

  private static void assertThatBothSucceeded(CmRun run) {
    assertThat(run.client().err()).isEmpty();
    assertThat(run.client().out())
        .containsExactly(
            "udaddy: starting client",
            "udaddy: connecting",
            "initiating data transfers",
            "receiving data transfers",
            "data transfers complete",
            "test complete",
            "return status 0");
    assertThat(run.client().status()).isZero();
    assertThat(run.server().err()).isEmpty();
    assertThat(run.server().out())
        .containsExactly(
            "udaddy: starting server",
            "receiving data transfers",
            "sending replies",
            "data transfers complete",
            "test complete",
            "return status 0");
    assertThat(run.server().status()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"-S 0", "-C 0 -c 2"})
  void connectionsAreMadeWithoutMessages(String options) throws Exception {
    CmRun run = CmRun.withServerInC(PORT, server(options), client(options));

    assertThat(run.client().out())
        .containsExactly(
            "udaddy: starting client", "udaddy: connecting", "test complete", "return status 0");
    assertThat(run.client().status()).isZero();
    assertThat(run.server().status()).isZero();
  }

  @Test
  void extraClientIsRejected() throws Exception {
    CmRun run = CmRun.inJava(PORT, server("--timeout 3"), client("-c 2"));

    run.client().assertFailed("The program that listens there rejected the connection");
    assertThat(run.client().out()).contains("udaddy: event: RDMA_CM_EVENT_UNREACHABLE, error: 2");
    run.server().assertFailed("the receive did not complete within 3 s");
    assertThat(run.server().out())
        .containsSubsequence("receiving data transfers", "udaddy: failing connection request");
  }

  @Test
  void absentPeersAreReportedInOneLine() {
    Outcome client = run(client(""));
    client.assertFailed("No program listens on that port");
    assertThat(client.out())
        .containsExactly(
            "udaddy: starting client",
            "udaddy: connecting",
            "udaddy: event: RDMA_CM_EVENT_UNREACHABLE, error: 1",
            "test complete",
            "return status 1");

    run(server("--timeout 1")).assertFailed("no client connected within 1 s");
  }

  @Test
  void unsupportedOptionIsReportedInOneLine() {
    run(client("-S 4097")).assertFailed("message_size 4097 is larger than active mtu 4096");
    run(client("-P ipoib")).assertFailed("EINVAL");
    run("udaddy -f ip -s no.such.host").assertFailed("rdma_getaddrinfo(no.such.host, 7174)");
  }

  private static Outcome run(String command) {
    return InThisJvm.run(command.split(" "));
  }

  private static String server(String options) {
    return "udaddy " + options;
  }

  private static String client(String options) {
    return "udaddy -s %s %s".formatted(HOST, options);
  }
}
