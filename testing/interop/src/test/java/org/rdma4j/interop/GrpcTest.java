package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.testing.integration.TestServiceClient;
import io.grpc.testing.integration.TestServiceServer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;

/** The server and the client with which gRPC's implementations test each other. */
final class GrpcTest {
  /** gRPC would take Netty's epoll transport otherwise, which knows no provider. */
  private static final List<String> NIO =
      List.of(
          "-Dio.netty.transport.noNative=true",
          "-Dio.grpc.netty.shaded.io.netty.transport.noNative=true");

  private static final List<String> CASES =
      List.of("empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong");

  private static final int SOAK = 200;

  /** It does not wait for the switch: so not all of its 100 MB go over RDMA. */
  private static final long SOAK_BYTES = 10_000_000;

  @Test
  void callsAndStreamsAreAnswered() throws Exception {
    int port = FreePort.find();
    try (ChildProcess server =
        ChildProcess.start(
            Program.command(NIO, TestServiceServer.class, "--use_tls=false", "--port=" + port))) {
      ChildProcess.awaitListening(port);
      for (String each : CASES) {
        call(port, each);
      }
      Outcome soak =
          call(
              port,
              "rpc_soak",
              "--soak_iterations=" + SOAK,
              "--soak_overall_timeout_seconds=" + ChildProcess.TIMEOUT.toSeconds(),
              "--soak_per_iteration_max_acceptable_latency_ms=" + ChildProcess.TIMEOUT.toMillis());
      Way.check(soak.out(), SOAK_BYTES);
      assertThat(server.isAlive()).isTrue();
    }
  }

  private static Outcome call(int port, String testCase, String... options) throws Exception {
    String[] args = new String[options.length + 4];
    args[0] = "--use_tls=false";
    args[1] = "--server_host=127.0.0.1";
    args[2] = "--server_port=" + port;
    args[3] = "--test_case=" + testCase;
    System.arraycopy(options, 0, args, 4, options.length);
    try (ChildProcess client =
        ChildProcess.start(Program.command(NIO, TestServiceClient.class, args))) {
      Outcome outcome = client.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      return outcome;
    }
  }
}
