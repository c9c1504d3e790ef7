package org.rdma4j.samples.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.samples.endpoint.Endpoint.Completion;
import org.rdma4j.samples.testing.TestDevice;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;
import org.rdma4j.verbs.WorkCompletionException;

@Tag("device")
@Tag("protocol")
@Tag("needs-connecting-by-address")
class EndpointDeviceTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(10);
  private static final int BYTES = 4096;

  private final MemorySegment here = Arena.ofAuto().allocate(BYTES, 64);
  private final MemorySegment there = Arena.ofAuto().allocate(BYTES, 64);
  private Endpoint left;
  private Endpoint right;

  @BeforeEach
  void connect() throws Exception {
    left = new Endpoint(TestDevice.NAME, here, 4, 4);
    right = new Endpoint(TestDevice.NAME, there, 4, 4);
    int port = TestDevice.freePort();
    CompletableFuture<?> accepted = accept(right, port);
    ChildProcess.awaitListening(port);
    left.connectToPeer("localhost", port, TIMEOUT);
    accepted.get(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    left.close();
    right.close();
  }

  private static CompletableFuture<?> accept(Endpoint endpoint, int port) {
    CompletableFuture<Boolean> accepted = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                endpoint.acceptPeer(port, TIMEOUT);
                accepted.complete(true);
              } catch (IOException | RuntimeException failed) {
                accepted.completeExceptionally(failed);
              }
            });
    return accepted;
  }

  @Test
  void completionsOfOtherRequestsAreKept() throws Exception {
    right.postReceive(21, 0, 64);
    right.postReceive(22, 64, 64);
    here.setString(0, "one");
    here.setString(64, "three");
    left.postSend(11, 0, 4);
    left.postSend(12, 64, 6);

    assertThat(left.pollCompletion(12, TIMEOUT)).isEqualTo(new Completion(12, false, 0));
    assertThat(left.pollCompletion(11, TIMEOUT)).isEqualTo(new Completion(11, false, 0));
    assertThat(right.pollCompletion(22, TIMEOUT)).isEqualTo(new Completion(22, true, 6));
    assertThat(right.pollCompletion(21, TIMEOUT)).isEqualTo(new Completion(21, true, 4));
    assertThat(there.getString(0)).isEqualTo("one");
    assertThat(there.getString(64)).isEqualTo("three");
  }

  @Test
  void sendsAndReceivesArePolledApart() throws Exception {
    left.postReceive(1, 0, 64);
    right.postSend(7, 0, 8);
    right.pollSendCompletion(TIMEOUT);
    left.postWrite(2, 64, 64, 64);

    assertThat(left.pollSendCompletion(TIMEOUT).id()).isEqualTo(2);
    assertThat(left.pollReceiveCompletion(TIMEOUT)).isEqualTo(new Completion(1, true, 8));
    assertThatThrownBy(() -> left.pollReceiveCompletion(SHORT))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("a receive did not complete");
  }

  @Test
  void aRequestThatDoesNotCompleteInTimeCanCompleteLater() throws Exception {
    left.postReceive(5, 0, 64);
    assertThatThrownBy(() -> left.pollCompletion(5, SHORT))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("request 5 did not complete");
    right.postSend(6, 0, 3);
    assertThat(left.pollCompletion(5, TIMEOUT).bytes()).isEqualTo(3);
  }

  @Test
  void readsAndWritesReachThePeersBuffer() throws Exception {
    here.setString(0, "written");
    left.postWrite(1, 0, 8, 100);
    left.pollCompletion(1, TIMEOUT);
    assertThat(there.getString(100)).isEqualTo("written");
    there.setString(200, "read");
    left.postRead(2, 300, 5, 200);
    left.pollCompletion(2, TIMEOUT);
    assertThat(here.getString(300)).isEqualTo("read");
    assertThat(left.remoteBytes()).isEqualTo(BYTES);
    assertThatThrownBy(() -> left.postRead(3, 0, 64, BYTES - 63))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("64 bytes at 4033 of the peer's buffer, which has 4096 bytes");
  }

  @Test
  void aFailedRequestThrows() {
    right.close();
    left.postWrite(1, 0, 8, 0);
    assertThatThrownBy(() -> left.pollCompletion(1, TIMEOUT))
        .isInstanceOf(WorkCompletionException.class);
  }

  @Test
  void aStrangerIsRefused() throws Exception {
    int port = TestDevice.freePort();
    try (Endpoint server = new Endpoint(TestDevice.NAME, here, 1, 1)) {
      CompletableFuture<?> accepted = accept(server, port);
      ChildProcess.awaitListening(port);
      try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
        stranger
            .getOutputStream()
            .write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> accepted.get(60, TimeUnit.SECONDS))
            .cause()
            .isInstanceOf(IOException.class)
            .hasMessageContaining("is not an endpoint of this version");
      }
    }
  }

  @Test
  @Tag("slow")
  void twoProcessesReadAndWriteEachOthersMemory() throws Exception {
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
        ChildProcess.start(JavaCommand.of(ReadWriteDemo.class), typedByServer)) {
      ChildProcess.awaitListening(18605);
      try (ChildProcess client =
          ChildProcess.start(JavaCommand.of(ReadWriteDemo.class, "localhost"), typedByClient)) {
        Outcome outcome = client.await().withoutNoise();
        assertThat(outcome.out().subList(8, outcome.out().size()))
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
      Outcome outcome = server.await().withoutNoise();
      assertThat(outcome.out().get(1)).startsWith("local: queue pair ").contains("remote key 0x");
      assertThat(outcome.out().get(2)).startsWith("1 [BYTES]  read");
      assertThat(outcome.out().subList(9, outcome.out().size()))
          .startsWith(
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
}
