package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

  @ParameterizedTest
  @CsvSource({
    "'no room', '(reason 28) and says: no room'",
    "'no room\0\0', '(reason 28) and says: no room'",
    "'', '(reason 28)'",
    "'\0\0\0', '(reason 28)'",
    "'\u001b[2J', '(reason 28)'",
    "'no\nroom', '(reason 28)'",
    "'no r\u00f6om', '(reason 28)'",
  })
  void theReasonThatThePeerGivesIsShownIfItIsPrintableText(String given, String end) {
    assertThat(rejected("rdma_connect", 28, given)).message().endsWith(end);
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

  private static ConnectionRejectedException rejected(String call, int reason) {
    return rejected(call, reason, "");
  }

  /** Without an identifier, which plays no part in it. */
  @SuppressWarnings("NullAway")
  private static ConnectionRejectedException rejected(String call, int reason, String text) {
    ByteBuffer privateData = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    return new ConnectionRejectedException(call, new CmEvent.Rejected(null, reason, privateData));
  }
}
