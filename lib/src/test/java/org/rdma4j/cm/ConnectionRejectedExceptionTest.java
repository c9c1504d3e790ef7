package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionRejectedExceptionTest {
  @ParameterizedTest
  @CsvSource({
    "rdma_connect(/192.0.2.1:7471), 8, No program listens on that port",
    "rdma_connect(/192.0.2.1:7471), 28, The program that listens there rejected the connection",
    "rdma_connect(/192.0.2.1:7471), 6, The InfiniBand connection manager gives reason 6",
    "rdma_connect(/192.0.2.1:7471), -104, 'rejected the connection, or none listens (reason -104 of iWARP)'",
    "rdma_accept(/192.0.2.2:40000), 28, The client gave up the connection",
    "rdma_accept, 8, The client gave up the connection",
  })
  void theAdviceFitsTheSideThatIsRejected(String call, int reason, String advice) {
    assertThat(rejected(call, reason))
        .hasMessageStartingWith(call + " failed: ECONNREFUSED")
        .hasMessageContaining(advice);
  }

  @Test
  void aRefusalByTheCallItselfIsARejectionToo() {
    assertThat(CmFailures.of("rdma_connect", 111))
        .isInstanceOfSatisfying(
            ConnectionRejectedException.class,
            rejected -> {
              assertThat(rejected.reason()).isEqualTo(-111);
              assertThat(rejected.privateData().remaining()).isZero();
            })
        .hasMessage(
            "rdma_connect failed: ECONNREFUSED (111), connection refused. No program listens on"
                + " that port: check the address and the port, or start the server");
  }

  /** Without an identifier, which plays no part in it. */
  @SuppressWarnings("NullAway")
  private static ConnectionRejectedException rejected(String call, int reason) {
    return new ConnectionRejectedException(
        call, new CmEvent.Rejected(null, reason, ByteBuffer.allocate(0)));
  }
}
