package org.rdma4j.samples.first;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.samples.testing.TestDevice;
import org.rdma4j.verbs.RdmaDevice;

/** The first programs on the first RDMA device of this machine. */
@Tag("device")
@Tag("protocol")
@Timeout(200)
class FirstSamplesDeviceTest {
  @Tag("needs-connecting-by-address")
  @Test
  void sendAndReceive() throws Exception {
    List<String> out = play("SendAndReceive");
    // The two requests complete in either order.
    assertThat(out.subList(0, 2))
        .containsExactlyInAnyOrder("the send is complete", "the receive is complete: 12 bytes");
    assertThat(out.subList(2, out.size())).containsExactly("received: Hello, RDMA");
  }

  @Tag("needs-connecting-by-address")
  @Test
  void rcPingPong() throws Exception {
    BothSides played = playBothSides("RcPingPong", "localhost");
    assertThat(played.server()).first().isEqualTo("waiting for a client on TCP port 18601");
    assertThat(played.server().subList(1, played.server().size()))
        .satisfies(FirstSamplesDeviceTest::assertPingPong);
    assertThat(played.client()).satisfies(FirstSamplesDeviceTest::assertPingPong);
  }

  private static void assertPingPong(List<? extends String> out) {
    assertThat(out).hasSize(3);
    assertThat(out.get(0)).startsWith("local:  ");
    assertThat(out.get(1)).startsWith("remote: ");
    assertThat(out.get(2)).matches("1000 round trips of 64 bytes, \\d+[.,]\\d us each");
  }

  @Tag("needs-connecting-by-address")
  @Test
  void writeAndRead() throws Exception {
    assertThat(play("WriteAndRead"))
        .containsExactly("remote memory: written by RDMA", "local memory: read by RDMA");
  }

  @Tag("needs-connecting-by-address")
  @Test
  void atomics() throws Exception {
    assertThat(play("Atomics"))
        .containsExactly(
            "fetch-and-add of 2: was 40, is 42",
            "compare-and-swap of 42 to 100: was 42, is 100",
            "compare-and-swap of 42 to 7: was 100, is 100");
  }

  @Tag("needs-connecting-by-address")
  @Test
  void completionEvents() throws Exception {
    List<String> out = play("CompletionEvents");
    assertThat(out).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(out.get(i)).matches("message " + i + " after \\d+ ms of sleep");
    }
  }

  @Test
  void cmEcho() throws Exception {
    BothSides played = playBothSides("CmEcho", TestDevice.host());
    assertThat(played.client())
        .containsExactly(
            "using the device " + RdmaDevice.list().get(0).name(),
            "echo: Hello, connection manager");
    assertThat(played.server()).hasSize(2);
    assertThat(played.server().get(0)).isEqualTo("waiting for a client on port 18602");
    assertThat(played.server().get(1)).startsWith("received 25 bytes from /" + TestDevice.host());
  }

  @Test
  void connectionEcho() throws Exception {
    BothSides played = playBothSides("ConnectionEcho", TestDevice.host());
    assertThat(played.client()).containsExactly("echo: one", "echo: two", "echo: three");
    assertThat(played.server())
        .containsExactly(
            "waiting for a client on port 18603",
            "echoing 3 bytes",
            "echoing 3 bytes",
            "echoing 5 bytes");
  }

  /** What each side printed. */
  private record BothSides(List<String> client, List<String> server) {}

  private static BothSides playBothSides(String program, String host) throws Exception {
    try (FirstProgram server = FirstProgram.start(program)) {
      server.awaitOutput("waiting for a client");
      return new BothSides(play(program, host), assertEndedWell(server.await()));
    }
  }

  private static List<String> play(String program, String... args) throws Exception {
    return assertEndedWell(FirstProgram.run(program, args));
  }

  private static List<String> assertEndedWell(FirstProgram.Ended ended) {
    assertThat(ended.err()).isEmpty();
    assertThat(ended.status()).isZero();
    return ended.out();
  }
}
