package org.rdma4j.tools.cm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.CmRun;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs rdma-client and rdma-server against the programs in C, and against each other. */
@Tag("device")
@Tag("c-programs")
@Timeout(200)
class RdmaClientProgramDeviceTest {
  private static final String HOST = TestDevice.host();

  @Test
  void clientWorksWithServerInC() throws Exception {
    int port = TestDevice.freePort();
    assertThatBothSucceeded(
        CmRun.withServerInC(
            port, "rdma_server -p " + port, "rdma-client -s " + HOST + " -p " + port));
  }

  @Test
  void serverWorksWithClientInC() throws Exception {
    int port = TestDevice.freePort();
    assertThatBothSucceeded(
        CmRun.withClientInC(
            port, "rdma-server -p " + port, "rdma_client -s " + HOST + " -p " + port));
  }

  @Test
  void clientWorksWithServer() throws Exception {
    int port = TestDevice.freePort();
    assertThatBothSucceeded(
        CmRun.inJava(
            port,
            "rdma-server -s " + HOST + " -p " + port,
            "rdma-client -s " + HOST + " -p " + port));
  }

  private static void assertThatBothSucceeded(CmRun run) {
    assertThat(run.client().err()).isEmpty();
    assertThat(run.client().out()).containsExactly("rdma_client: start", "rdma_client: end 0");
    assertThat(run.client().status()).isZero();
    assertThat(run.server().err()).isEmpty();
    assertThat(run.server().out()).containsExactly("rdma_server: start", "rdma_server: end 0");
    assertThat(run.server().status()).isZero();
  }

  @Test
  void absentPeersAreReportedInOneLine() throws Exception {
    int port = TestDevice.freePort();
    Outcome client = InThisJvm.run("rdma-client", "-s", HOST, "-p", String.valueOf(port));
    assertThat(client.err()).singleElement().asString().contains("No program listens on that port");
    assertThat(client.out()).containsExactly("rdma_client: start", "rdma_client: end -1");
    assertThat(client.status()).isEqualTo(1);

    Outcome server = InThisJvm.run("rdma-server", "--timeout", "1", "-p", String.valueOf(port));
    assertThat(server.err()).singleElement().asString().contains("no client connected within 1 s");
    assertThat(server.status()).isEqualTo(1);
  }
}
