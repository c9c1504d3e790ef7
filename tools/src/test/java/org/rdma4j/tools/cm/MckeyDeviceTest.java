package org.rdma4j.tools.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Runs mckey against the program in C. The kernel shows when a program has joined a group. */
@Tag("device")
@Tag("kernel")
@Tag("needs-multicast")
@Timeout(200)
class MckeyDeviceTest {
  private static final long TIMEOUT_SECONDS = 90;
  private static final String HOST = TestDevice.host();

  @Test
  void itReceivesWhatOneInCSends() throws Exception {
    String command = "mckey -m 239.1.2.3 -C 10 -S 100 -b " + HOST;
    CompletableFuture<Outcome> receiver = InThisJvm.begin(command.split(" "));
    ChildProcess.awaitMember("239.1.2.3");
    // Datagrams may be lost on a busy machine, so they are sent until enough have come.
    do {
      try (ChildProcess sender = ChildProcess.start(List.of((command + " -s").split(" ")))) {
        assertThat(sender.await().status()).isZero();
      }
    } while (!receiver.isDone());
    assertThatItSucceeded(
        receiver.get(TIMEOUT_SECONDS, TimeUnit.SECONDS),
        "mckey: starting server",
        "mckey: joining",
        "mckey: joined dgid: ::ffff:239.1.2.3 mlid 0x0 sl 0",
        "receiving data transfers");
  }

  @Test
  void oneInCReceivesWhatItSends() throws Exception {
    String command = "mckey -m 239.1.2.4 -c 2 -C 3 -S 4096 -b " + HOST;
    try (ChildProcess receiver = ChildProcess.start(List.of(command.split(" ")))) {
      ChildProcess.awaitMember("239.1.2.4");
      assertThatItSucceeded(
          InThisJvm.run((command + " -s -o").split(" ")),
          "mckey: starting client",
          "mckey: joining",
          "mckey: joined dgid: ::ffff:239.1.2.4 mlid 0x0 sl 0",
          "mckey: joined dgid: ::ffff:239.1.2.4 mlid 0x0 sl 0",
          "initiating data transfers");
      assertThat(receiver.await().status()).isZero();
    }
  }

  private static void assertThatItSucceeded(Outcome outcome, String... lines) {
    List<String> expected = new ArrayList<>(List.of(lines));
    Collections.addAll(expected, "data transfers complete", "test complete", "return status 0");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out()).isEqualTo(expected);
    assertThat(outcome.status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "-m 239.1.2.5, ENETUNREACH",
    "-m 239.1.2.5 -b no.such.host.invalid, no host is named",
    "-m 239.1.2.5 -b 192.0.2.77, 'EADDRNOTAVAIL'",
    "-m 239.1.2.5 -b HOST -p 2, EINVAL",
    "-m 239.1.2.5 -b HOST -S 4097, message_size 4097 is larger than active mtu 4096",
    "-m 239.1.2.5 -b HOST -l, EOPNOTSUPP",
    "-m HOST -b HOST, rdma_join_multicast_ex failed",
    "-M ff0e::ffff:ef01:203 -b HOST, rdma_join_multicast_ex",
    "-M group -b HOST, '\"group\" is not a GID'",
  })
  void failureToJoinIsReportedInOneLine(String options, String message) {
    Outcome outcome = InThisJvm.run(("mckey " + options.replace("HOST", HOST)).split(" "));

    outcome.assertFailed(message);
    assertThat(outcome.out()).endsWith("test complete", "return status 1");
  }

  @Test
  void missingSenderIsReportedInOneLine() {
    Outcome outcome = InThisJvm.run(("mckey --timeout 1 -m 239.1.2.6 -b " + HOST).split(" "));

    outcome.assertFailed("the receive did not complete within 1 s");
  }
}
