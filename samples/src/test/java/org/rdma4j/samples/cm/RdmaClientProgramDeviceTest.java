package org.rdma4j.samples.cm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.samples.testing.CmRun;
import org.rdma4j.samples.testing.Outcome;
import org.rdma4j.samples.testing.TestDevice;

/** Runs rdma-client and rdma-server against the programs in C, and against each other. */
@Tag("device")
@Timeout(200)
class RdmaClientProgramDeviceTest {
  private static final String HOST = TestDevice.host();

  @Test
  void clientPlaysWithServerInC() throws Exception {
    int port = TestDevice.freePort();
    assertThatBothPlayed(
        CmRun.withServerInC(
            port, "rdma_server -p " + port, "rdma-client -s " + HOST + " -p " + port));
  }

  @Test
  void serverPlaysWithClientInC() throws Exception {
    int port = TestDevice.freePort();
    assertThatBothPlayed(
        CmRun.withClientInC(
            port, "rdma-server -p " + port, "rdma_client -s " + HOST + " -p " + port));
  }

  @Test
  void theyPlayWithEachOther() throws Exception {
    int port = TestDevice.freePort();
    assertThatBothPlayed(
        CmRun.inJava(
            port,
            "rdma-server -s " + HOST + " -p " + port,
            "rdma-client -s " + HOST + " -p " + port));
  }

  private static void assertThatBothPlayed(CmRun game) {
    assertThat(game.client().err()).isEmpty();
    assertThat(game.client().out()).containsExactly("rdma_client: start", "rdma_client: end 0");
    assertThat(game.client().status()).isZero();
    assertThat(game.server().err()).isEmpty();
    assertThat(game.server().out()).containsExactly("rdma_server: start", "rdma_server: end 0");
    assertThat(game.server().status()).isZero();
  }

  @Test
  void absentPeersAreReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    Outcome client = Outcome.of("rdma-client", "-s", HOST, "-p", String.valueOf(port));
    assertThat(client.err()).singleElement().asString().contains("No program listens on that port");
    assertThat(client.out()).containsExactly("rdma_client: start", "rdma_client: end -1");
    assertThat(client.status()).isEqualTo(1);

    Outcome server = Outcome.of("rdma-server", "--timeout", "1", "-p", String.valueOf(port));
    assertThat(server.err()).singleElement().asString().contains("no client connected within 1 s");
    assertThat(server.status()).isEqualTo(1);
  }
}
